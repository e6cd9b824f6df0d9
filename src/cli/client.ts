// `gatehouse client create|list|rotate-secret`.
import { type Command, Option } from 'commander';
import { type ClientFields, clientGrantTypes } from '../administration/client-fields.ts';
import { createClient, rotateClientSecret } from '../administration/clients.ts';
import { shownAuthMethod, tokenEndpointAuthMethods } from '../domain/client.ts';
import { listClients } from '../storage/clients.ts';
import { addCommonOptions, addTenantOption, administer, allPages, by, loadTenant, type Options, pageRows, table } from './administrator.ts';
import { CommandFailure, usage } from './failure.ts';

export function clientCommand(program: Command): void {
  const client = program.command('client').description('Register and list clients, rotate their secrets');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(client.command(name).description(description)));
  add('create <name>', 'Register a client; its secret is shown once')
    .addOption(new Option('--type <type>', 'type of the client').choices(['confidential', 'public']).default('confidential'))
    .addOption(new Option('--auth-method <method>', 'token endpoint authentication').choices(tokenEndpointAuthMethods))
    .addOption(new Option('--grant-type <types...>', 'grant types').choices(clientGrantTypes))
    .option('--redirect-uri <uris...>', 'redirect URIs')
    .option('--scope <scopes...>', 'scopes the client may have')
    .option('--resource <uris...>', 'audiences it may request')
    .action(create);
  add('list', 'List clients').action(list);
  add('rotate-secret <client-id>', 'Make a new secret, shown once; the old one fails at once').action(rotate);
}

async function create(name: string, options: Options): Promise<void> {
  const fields: Record<string, unknown> = {
    name,
    type: options['type'],
    token_endpoint_auth_method: options['authMethod'],
    grant_types: options['grantType'],
    redirect_uris: options['redirectUri'],
    scopes: options['scope'] ?? ['openid', 'profile', 'email', 'offline_access'],
    resources: options['resource'],
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ClientFields; // commander checked the choices
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const created = await createClient(administrator, tenant.id, given, by);
    if (!created.ok) {
      const { field, text } = created.fault;
      throw usage(`${optionOf(field)}: ${text}, found ${JSON.stringify(fields[field] ?? null)}. See: gatehouse client create --help`);
    }
    const { client, secret } = created;
    administrator.print(
      { client_id: client.clientId, name, ...(secret === undefined ? {} : { client_secret: secret }), issuer: tenant.baseUrl },
      [`Client ${client.clientId} of ${tenant.baseUrl}`, secret === undefined ? 'It has no secret.' : `Secret, shown once: ${secret}`],
    );
  });
}

const optionNames: Readonly<Record<string, string>> = {
  token_endpoint_auth_method: '--auth-method',
  grant_types: '--grant-type',
  redirect_uris: '--redirect-uri',
  scopes: '--scope',
  resources: '--resource',
};
const optionOf = (field: string): string => optionNames[field] ?? field;

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
