// `gatehouse client create|list|show|change|delete|rotate-secret`.
import { type Command, Option } from 'commander';
import { changeClient, createClient, prepareClient, removeClient, rotateClientSecret } from '../../administration/clients/clients.ts';
import { type Client, type ClientChange, clientFields, shownAuthMethod } from '../../domain/client/client.ts';
import { clientToJson } from '../../domain/client/client-json.ts';
import { clientKinds, isClientKind, signInScopes } from '../../domain/client/client-kinds.ts';
import { federatedMethod } from '../../domain/client/workload.ts';
import { type PresetAsk, workloadOfPreset, workloadPresets } from '../../domain/client/workload-presets.ts';
import { snippetsOf } from '../../domain/client/workload-snippets.ts';
import type { FieldFault, Json } from '../../domain/field.ts';
import { capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Dialect, Queries } from '../../storage/engine/database.ts';
import { findClient, listClients } from '../../storage/registry/clients/clients.ts';
import { listLastUses } from '../../storage/registry/last-sign-ins.ts';
import { CommandFailure, usage } from '../failure.ts';
import { requireNewFile, writeSecretFile } from '../secret-file.ts';
import {
  type Administrator,
  addCommonOptions,
  addTenantOption,
  administer,
  allPages,
  by,
  loadTenant,
  type Options,
  pageRows,
  table,
} from './administrator.ts';
import { addFieldFlags, flagOf, givenFlags } from './field-flags.ts';
import { printThing, readGiven, requireShape } from './kind.ts';

export function clientCommand(program: Command): void {
  const client = program.command('client').description('Applications: what signs people in, or calls APIs');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(client.command(name).description(description)));
  addFieldFlags(add('create <name>', 'Register a client; its secret is shown once'), clientFields)
    .addOption(new Option('--kind <kind>', 'what it is; other flags change what follows from it').choices(Object.keys(clientKinds)))
    .addOption(
      new Option(
        '--workload <platform:values>',
        'a machine that is known by tokens of its platform, or of one of several; prints what to write there. Its issuer is registered where the tenant has none',
      )
        .argParser((text: string, before: readonly string[] = []) => [...before, text])
        .conflicts(['kind', 'type', 'authMethod']),
    )
    .addOption(
      new Option(
        '--every-capability',
        'it may do all there is in the tenant, as a job that applies documents on a server elsewhere',
      ).conflicts('scope'),
    )
    .addHelpText(
      'after',
      `\nPlatforms of --workload, whose values follow as name=value with commas between:\n${platformLines().join('\n')}`,
    )
    .option('--env <file>', 'write ISSUER, CLIENT_ID and CLIENT_SECRET to a new file instead of showing the secret')
    .action(create);
  add('list', 'List clients, the one that was used last first').action(list);
  add('show <client-id>', 'Read a client').action(show);
  add(
    'change <client-id> <field=value...>',
    'Change a client; a new auth method may show a new secret. Values other than texts are JSON, and an empty value clears the field',
  ).action(change);
  add('delete <client-id>', 'Delete a client with its grants and tokens').action(remove);
  add('rotate-secret <client-id>', 'Make a new secret, shown once; the old one fails at once').action(rotate);
}

const platformLines = (): readonly string[] =>
  Object.entries(workloadPresets).flatMap(([name, { asks }]) => [
    `  ${name}`,
    ...Object.entries(asks).map(([asked, one]: readonly [string, PresetAsk]) => `    ${asked}: ${one.about}${mayBeLeftOut(one)}`),
  ]);

const mayBeLeftOut = ({ default: value, isOptional }: PresetAsk): string =>
  value !== undefined ? ` (default: ${value})` : isOptional === true ? ' (optional)' : '';

async function create(name: string, options: Options): Promise<void> {
  const env = options['env'] === undefined ? undefined : String(options['env']);
  if (env !== undefined) requireNewFile(env);
  const platforms = options['workload'] as readonly string[] | undefined; // of the option
  const workload = platforms === undefined ? undefined : await ofWorkloads(platforms);
  const kind = workload === undefined ? String(options['kind'] ?? '') : 'machine';
  const values: ClientChange = isClientKind(kind) ? clientKinds[kind].values : { scopes: signInScopes };
  const asked: ClientChange = { ...values, ...givenFlags(clientFields, options), name, ...workload?.values };
  await requireShape({ noun: 'client', fields: clientFields }, 'create', asked as Json);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const given = options['everyCapability'] === true ? { ...asked, scopes: capabilitiesOfTenant(tenant) } : asked;
    const platform = await workload?.prepare(administrator, tenant, given);
    const created = await createClient(administrator, { tenant, by }, given);
    if (!created.ok) throw wrongFlag(created.fault, given);
    const { client, secret } = created;
    const told = { client_id: client.clientId, name, issuer: tenant.baseUrl };
    const more = platform?.(client);
    const first = `Client ${client.clientId} of ${tenant.baseUrl}`;
    if (env === undefined) {
      administrator.print({ ...told, ...(secret === undefined ? {} : { client_secret: secret }), ...more?.json }, [
        first,
        secret === undefined ? 'It has no secret.' : `Secret, shown once: ${secret}`,
        ...(more?.lines ?? []),
      ]);
      return;
    }
    const written = { ISSUER: tenant.baseUrl, CLIENT_ID: client.clientId, ...(secret === undefined ? {} : { CLIENT_SECRET: secret }) };
    writeSecretFile(env, written);
    administrator.print({ ...told, env, ...more?.json }, [
      first,
      `${Object.keys(written).join(', ')} are in ${env}`,
      ...(more?.lines ?? []),
    ]);
  });
}

const wrongFlag = ({ field, text }: FieldFault, given: ClientChange): CommandFailure =>
  usage(
    `${flagOf(clientFields, field)}: ${text}, found ${JSON.stringify((given as Json)[field] ?? null)}. See: gatehouse client create --help`,
  );

type Told = { readonly json: Json; readonly lines: readonly string[] };

/** What a client is that is known by tokens of its platforms: its values, their issuers before it is made, and what is written on each platform. */
async function ofWorkloads(texts: readonly string[]) {
  const { readWorkloads, requireIssuer } = await import('./workload.ts');
  const all = await readWorkloads(texts);
  const workloads = all.map(({ preset, given }) => workloadOfPreset(preset, given));
  return {
    values: { token_endpoint_auth_method: federatedMethod, workloads } satisfies ClientChange,
    prepare: async (administrator: Administrator, tenant: Tenant, given: ClientChange): Promise<(client: Client) => Told> => {
      const prepared = await prepareClient(administrator, tenant.id, given);
      if (!prepared.ok) throw wrongFlag(prepared.fault, given);
      const issuers: Awaited<ReturnType<typeof requireIssuer>>[] = [];
      for (const wanted of all) issuers.push(await requireIssuer(administrator, tenant, wanted)); // one after another: they may be the same
      return (client) => {
        const snippets = all.map((wanted, at) =>
          snippetsOf(tenant.baseUrl, { ...wanted, audiences: issuers[at]!.issuer.audiences }, client),
        );
        const linesOf = (at: number): readonly string[] => [
          `It is known by tokens of ${issuers[at]!.isNew ? 'the new' : 'the'} workload issuer ${issuers[at]!.issuer.issuer}: ${JSON.stringify(workloads[at])}`,
          ...snippets[at]!.flatMap((one) => ['', one.text]),
        ];
        return {
          json: {
            workload_issuers: issuers.map(({ issuer: { id, issuer }, isNew }) => ({ id, issuer, is_new: isNew })),
            workloads,
            snippets: snippets.flat(),
          },
          lines: all.flatMap((_, at) => [...(at === 0 ? [] : ['']), ...linesOf(at)]),
        };
      };
    },
  };
}

async function list(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const { database } = administrator;
    const found = await allPages(
      (after) => database.read(tenant.id, (queries) => readUsed(queries, database.dialect, tenant, after)),
      ({ client }) => client.clientId,
    );
    const clients = found.toSorted((left, right) => (right.usedAt ?? '').localeCompare(left.usedAt ?? ''));
    administrator.print(
      clients.map(({ client: { clientId, name, type, tokenEndpointAuthMethod, enabled }, usedAt }) => ({
        client_id: clientId,
        name,
        type,
        token_endpoint_auth_method: shownAuthMethod(tokenEndpointAuthMethod),
        enabled,
        last_used_at: usedAt ?? null,
      })),
      table(
        ['CLIENT ID', 'TYPE', 'AUTHENTICATION', 'STATE', 'LAST USED', 'NAME'],
        clients.map(({ client, usedAt }) => [
          client.clientId,
          client.type,
          shownAuthMethod(client.tokenEndpointAuthMethod),
          client.enabled ? 'enabled' : 'disabled',
          usedAt ?? 'none known',
          client.name,
        ]),
      ),
    );
  });
}

interface Used {
  readonly client: Client;
  readonly usedAt: string | undefined;
}

/** A page of clients, each with when it was last used. */
async function readUsed(queries: Queries, dialect: Dialect, tenant: Tenant, after: string): Promise<readonly Used[]> {
  const clients = await listClients(queries, tenant.id, { after, limit: pageRows });
  const ids = clients.map(({ clientId }) => clientId);
  const times = await listLastUses(queries, dialect, tenant.id, ids);
  return clients.map((client) => {
    const atMs = times.get(client.clientId);
    return { client, usedAt: atMs === undefined ? undefined : new Date(atMs).toISOString() };
  });
}

async function show(clientId: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const client = await administrator.database.read(tenant.id, (queries) => findClient(queries, tenant.id, clientId));
    if (client === undefined) throw refusal('unknown', clientId, tenant);
    printThing(administrator, clientToJson(client));
  });
}

async function change(clientId: string, words: readonly string[], options: Options): Promise<void> {
  const given = await readGiven({ noun: 'client', fields: clientFields }, 'change', words);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const changed = await changeClient(administrator, { tenant, by }, clientId, given as ClientChange); // of that shape
    if (!changed.ok) {
      if (changed.reason !== 'invalid') throw refusal(changed.reason, clientId, tenant);
      throw usage(`${changed.fault.field}: ${changed.fault.text}`);
    }
    const secret = changed.secret === undefined ? {} : { client_secret: changed.secret };
    printThing(administrator, { ...clientToJson(changed.client), ...secret });
  });
}

async function remove(clientId: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const removed = await removeClient(administrator, { tenant, by }, clientId);
    if (!removed.ok) throw refusal(removed.reason, clientId, tenant);
    printThing(administrator, clientToJson(removed.client));
  });
}

async function rotate(clientId: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const rotated = await rotateClientSecret(administrator, { tenant, by }, clientId);
    if (!rotated.ok) throw refusal(rotated.reason, clientId, tenant);
    administrator.print({ client_id: clientId, client_secret: rotated.secret }, `Secret of ${clientId}, shown once: ${rotated.secret}`);
  });
}

function refusal(reason: 'unknown' | 'own' | 'stranger' | 'no_secret', clientId: string, { slug }: Tenant): CommandFailure {
  const seeList = `See: gatehouse client list --tenant ${slug}`;
  switch (reason) {
    case 'unknown':
      return new CommandFailure(`expected a client of tenant ${slug}, found none with client_id ${clientId}. ${seeList}`);
    case 'own':
      return new CommandFailure(`expected a client that is not of Gatehouse itself, found ${clientId}, which is never changed. ${seeList}`);
    case 'stranger':
      return new CommandFailure(`expected a client that somebody registered, found ${clientId}, whose secret is its own. ${seeList}`);
    case 'no_secret':
      return new CommandFailure(`expected a client with a secret, found one that authenticates without: ${clientId}`);
  }
}
