// `gatehouse client create|list|rotate-secret`.
import { type Command, Option } from 'commander';
import { createClient, rotateClientSecret } from '../../administration/clients/clients.ts';
import { type ClientChange, clientFields, shownAuthMethod } from '../../domain/client/client.ts';
import { clientKinds, isClientKind, signInScopes } from '../../domain/client/client-kinds.ts';
import type { Json } from '../../domain/field.ts';
import { listClients } from '../../storage/registry/clients/clients.ts';
import { CommandFailure, usage } from '../failure.ts';
import { requireNewFile, writeSecretFile } from '../secret-file.ts';
import { addCommonOptions, addTenantOption, administer, allPages, by, loadTenant, type Options, pageRows, table } from './administrator.ts';
import { addFieldFlags, flagOf, givenFlags } from './field-flags.ts';

export function clientCommand(program: Command): void {
  const client = program.command('client').description('Register and list clients, rotate their secrets');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(client.command(name).description(description)));
  addFieldFlags(add('create <name>', 'Register a client; its secret is shown once'), clientFields)
    .addOption(new Option('--kind <kind>', 'what it is; other flags change what follows from it').choices(Object.keys(clientKinds)))
    .option('--env <file>', 'write ISSUER, CLIENT_ID and CLIENT_SECRET to a new file instead of showing the secret')
    .action(create);
  add('list', 'List clients').action(list);
  add('rotate-secret <client-id>', 'Make a new secret, shown once; the old one fails at once').action(rotate);
}

async function create(name: string, options: Options): Promise<void> {
  const kind = String(options['kind'] ?? '');
  const values: ClientChange = isClientKind(kind) ? clientKinds[kind].values : { scopes: signInScopes };
  const given: ClientChange = { ...values, ...givenFlags(clientFields, options), name };
  const env = options['env'] === undefined ? undefined : String(options['env']);
  if (env !== undefined) requireNewFile(env);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const created = await createClient(administrator, tenant.id, given, by);
    if (!created.ok) {
      const { field, text } = created.fault;
      throw usage(
        `${flagOf(clientFields, field)}: ${text}, found ${JSON.stringify((given as Json)[field] ?? null)}. See: gatehouse client create --help`,
      );
    }
    const { client, secret } = created;
    if (env !== undefined) {
      const values = { ISSUER: tenant.baseUrl, CLIENT_ID: client.clientId, ...(secret === undefined ? {} : { CLIENT_SECRET: secret }) };
      writeSecretFile(env, values);
      administrator.print({ client_id: client.clientId, name, env, issuer: tenant.baseUrl }, [
        `Client ${client.clientId} of ${tenant.baseUrl}`,
        `${Object.keys(values).join(', ')} are in ${env}`,
      ]);
      return;
    }
    administrator.print(
      { client_id: client.clientId, name, ...(secret === undefined ? {} : { client_secret: secret }), issuer: tenant.baseUrl },
      [`Client ${client.clientId} of ${tenant.baseUrl}`, secret === undefined ? 'It has no secret.' : `Secret, shown once: ${secret}`],
    );
  });
}

async function list(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const { database } = administrator;
    const clients = await allPages(
      (after) => database.read(tenant.id, (queries) => listClients(queries, tenant.id, { after, limit: pageRows })),
      (client) => client.clientId,
    );
    administrator.print(
      clients.map(({ clientId, name, type, tokenEndpointAuthMethod, enabled }) => ({
        client_id: clientId,
        name,
        type,
        token_endpoint_auth_method: shownAuthMethod(tokenEndpointAuthMethod),
        enabled,
      })),
      table(
        ['CLIENT ID', 'TYPE', 'AUTHENTICATION', 'STATE', 'NAME'],
        clients.map((client) => [
          client.clientId,
          client.type,
          shownAuthMethod(client.tokenEndpointAuthMethod),
          client.enabled ? 'enabled' : 'disabled',
          client.name,
        ]),
      ),
    );
  });
}

async function rotate(clientId: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const rotated = await rotateClientSecret(administrator, tenant.id, clientId, by);
    if (rotated.ok) {
      administrator.print({ client_id: clientId, client_secret: rotated.secret }, `Secret of ${clientId}, shown once: ${rotated.secret}`);
      return;
    }
    throw new CommandFailure(
      rotated.reason === 'unknown'
        ? `expected a client of tenant ${tenant.slug}, found none with client_id ${clientId}. See: gatehouse client list --tenant ${tenant.slug}`
        : `expected a client with a secret, found one that authenticates without: ${clientId}`,
    );
  });
}
