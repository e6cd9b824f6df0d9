// `/document`: makes the tenant follow a document, as `gatehouse apply` does beside the database; for jobs that have no database. A document is
// its owner's own hand and may say anything of the tenant, so whoever sends one holds every capability of it.
import Type from 'typebox';
import { DeclarationFault } from '../../administration/declaration/document.ts';
import { declarationsIn } from '../../administration/declaration/reader.ts';
import { type Change, checkDocument, openSession, reconcile } from '../../administration/declaration/reconcile.ts';
import { closed } from '../../administration/schema-pieces.ts';
import { capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import { byOf, type Call, type Endpoint, endpoint, invalidField, type Json, requireCapabilities } from '../endpoint.ts';
import { oneOf } from '../schemas.ts';

interface Body {
  readonly document: Json;
  readonly prune?: boolean | undefined;
  readonly plan?: boolean | undefined;
}

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const documentEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/document',
    capability: 'administrators:write',
    summary:
      'Make the tenant follow a document, as `gatehouse apply` does; the caller needs every capability of the tenant. `conflicts` lists items that were left out because their name is in use, or an LDAP directory manages what they change; everything else is done',
    body: closed({
      document: Type.Record(Type.String(), Type.Unknown(), { description: 'as `gatehouse export` writes it, in JSON' }),
      prune: flag('delete what is not in the document, in the sections it has'),
      plan: flag('say what would change, and write nothing'),
    }),
    answer: Type.Object({
      changes: Type.Array(
        Type.Object({
          action: oneOf(['create', 'update', 'delete']),
          noun: Type.String(),
          id: Type.Optional(Type.String()),
          title: Type.String(),
        }),
      ),
      created: Type.Integer(),
      updated: Type.Integer(),
      deleted: Type.Integer(),
      unchanged: Type.Integer(),
      conflicts: Type.Array(Type.Object({ path: Type.String(), title: Type.String(), text: Type.String() })),
      secrets: Type.Array(Type.Object({ client_id: Type.String(), client_secret: Type.String() }), {
        description: 'made for new clients, shown once',
      }),
    }),
    status: 200,
    isLong: true,
    handle: follow,
  }),
];

async function follow(call: Call<undefined, Body>): Promise<unknown> {
  const { tenant, scopes, body } = call;
  requireCapabilities(capabilitiesOfTenant(tenant), scopes);
  try {
    const customers = await checkDocument(declarationsIn(body.document));
    // What is wrong in itself is told before anything is written.
    const planned = await run(call, false, customers);
    return body.plan === true ? planned : await run(call, true, customers);
  } catch (error) {
    if (error instanceof DeclarationFault) throw invalidField('document', error.message);
    throw error;
  }
}

async function run(call: Call<undefined, Body>, write: boolean, customers: ReadonlySet<string>): Promise<Json> {
  const { services, tenant, body } = call;
  const changes: Change[] = [];
  const session = await openSession(services, tenant, byOf(call), customers);
  const options = { write, prune: body.prune === true, onChange: (change: Change) => void changes.push(change) };
  const { secrets, ...done } = await reconcile(session, declarationsIn(body.document), options);
  return { changes, ...done, secrets: secrets.map(({ clientId, secret }) => ({ client_id: clientId, client_secret: secret })) };
}
