// The endpoints of what is drafted, published and undone alike: texts by language, mails by kind and language.
import Type, { type TSchema } from 'typebox';
import {
  type DraftKey,
  type DraftState,
  discardDraft,
  loadDraft,
  publish,
  saveDraft,
  undo,
  withdraw,
} from '../../administration/appearance/drafts.ts';
import { nullable } from '../../administration/schema-pieces.ts';
import type { FieldFault } from '../../domain/field.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from '../endpoint.ts';

interface Customized {
  /** With its parameters, as `/texts/:language`. */
  readonly path: string;
  readonly noun: string;
  readonly read: Capability;
  readonly write: Capability;
  readonly body: TSchema;
  /** Of the path's parameters. @throws management.not_found */
  readonly keyOf: (params: Call<unknown, unknown>['params']) => DraftKey;
  /** A body as it is stored, or what is wrong with it. */
  readonly accept: (key: DraftKey, body: Json) => { readonly draft: Json } | { readonly fault: FieldFault };
  /** What an answer says besides. */
  readonly about: (key: DraftKey, tenant: Tenant) => Json;
  readonly aboutSchema: Readonly<Record<string, TSchema>>;
}

export function customizationEndpoints(own: Customized): readonly Endpoint[] {
  const { path, noun, body } = own;
  const answer = Type.Object({ ...own.aboutSchema, published: nullable(body), draft: nullable(body), can_undo: Type.Boolean() });
  const toJson = (tenant: Tenant, key: DraftKey, state: DraftState): Json => ({ ...own.about(key, tenant), ...stateJson(state) });
  const shared = { capability: own.write, answer, status: 200 } as const;
  return [
    endpoint({
      ...shared,
      method: 'GET',
      path,
      capability: own.read,
      summary: `Read ${noun}: what is published (null: the built-in), and the draft`,
      handle: async ({ services, tenant, params }) => {
        const key = own.keyOf(params);
        return toJson(tenant, key, await services.database.read(tenant.id, (queries) => loadDraft(queries, tenant.id, key)));
      },
    }),
    endpoint({
      ...shared,
      method: 'PUT',
      path: `${path}/draft`,
      summary: `Write the draft of ${noun}; nobody sees it yet`,
      body,
      handle: async ({ services, tenant, params, body: given, actor, requestId }: Call<undefined, unknown>) => {
        const key = own.keyOf(params);
        const accepted = own.accept(key, given as Json); // checked by the schema
        if ('fault' in accepted) throw invalidField(accepted.fault.field, `This field ${accepted.fault.text}.`);
        return toJson(tenant, key, await saveDraft(services, tenant.id, key, accepted.draft, { actor, requestId }));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/draft`,
      capability: own.write,
      summary: `Discard the draft of ${noun}`,
      answer: undefined,
      status: 204,
      handle: async ({ services, tenant, params, actor, requestId }) => {
        if (!(await discardDraft(services, tenant.id, own.keyOf(params), { actor, requestId }))) throw notFound('no_draft');
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path: `${path}/publish`,
      summary: `Publish the draft of ${noun}`,
      handle: async ({ services, tenant, params, actor, requestId }) => {
        const key = own.keyOf(params);
        return toJson(tenant, key, settled(await publish(services, tenant.id, key, { actor, requestId })));
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path: `${path}/undo`,
      summary: `Publish again what was before of ${noun}, or the built-in`,
      handle: async ({ services, tenant, params, actor, requestId }) => {
        const key = own.keyOf(params);
        return toJson(tenant, key, settled(await undo(services, tenant.id, key, { actor, requestId })));
      },
    }),
    withdrawal(own),
  ];
}

const withdrawal = (own: Customized): Endpoint =>
  endpoint({
    method: 'DELETE',
    path: own.path,
    capability: own.write,
    summary: `Go back to the built-in of ${own.noun}; undo brings back what was published`,
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      if (!(await withdraw(services, tenant.id, own.keyOf(params), { actor, requestId }))) throw notFound('nothing_published');
    },
  });

const stateJson = ({ published, draft, canUndo }: DraftState): Json => ({
  published: published ?? null,
  draft: draft ?? null,
  can_undo: canUndo,
});

/** @throws management.conflict */
function settled(outcome: Awaited<ReturnType<typeof publish>>): DraftState {
  if (outcome.ok) return outcome.state;
  throw outcome.reason === 'no_draft'
    ? conflict('draft', 'There is no draft to publish.')
    : conflict('previous', 'Nothing was published before.');
}
