// What somebody has after their writes that they did not have before: capabilities of secrets and people they made, things they changed
// that others write, secrets that go elsewhere, names they may not read, sessions of other people.
import { isOwnClient } from '../../src/domain/client/own-clients.ts';
import { type Capability, capabilities } from '../../src/domain/people/capabilities.ts';
import { findConnector } from '../../src/storage/registry/extending/connectors.ts';
import { findLdapDirectory } from '../../src/storage/registry/extending/ldap-directories.ts';
import { findIdentityProvider } from '../../src/storage/registry/identity-providers.ts';
import { openApp } from './first-party-app.ts';
import type { Json, Managed } from './management.ts';
import type { Actor, Tried } from './power-actor.ts';
import { attacker } from './power-table.ts';
import { marks, type PowerWorld } from './power-world.ts';
import type { TestServer } from './server.ts';

const known: ReadonlySet<string> = new Set(capabilities);
const list = (values: readonly string[]): string => values.slice(0, 4).join(', ');

/** What was answered to writes that should not have been, and names in answers that are not theirs to read. */
export function gainsOfAnswers(world: PowerWorld, actor: Actor, tried: readonly Tried[]): readonly string[] {
  const above = Object.values(world.people).filter(({ holds }) => holds.some((one) => !actor.holds.has(one)));
  return tried.flatMap(({ write, path, body, status, text }) => {
    const what = `${write.name} ${path} ${JSON.stringify(body)?.slice(0, 120) ?? ''}`;
    const isOver =
      (write.judged.way === 'person' || path.startsWith('/users/')) &&
      above.some(({ id }) => `${path} ${JSON.stringify(body)}`.includes(id));
    const seen = [...new Set(text.match(/mark-[a-z]+|kept-secret[a-z-]*/g))];
    const foreign = seen.filter((mark) => !(marks[mark] ?? []).some((one) => actor.holds.has(one)) && write.judged.tells !== mark);
    return [
      ...(status < 300 && isOver ? [`${what} is done to somebody who holds more`] : []),
      ...(status >= 500 ? [`${what} answered ${status}`] : []),
      ...foreign.map((mark) => `${what} shows ${mark}`),
    ];
  });
}

/** What secrets in answers open. */
export async function gainsOfSecrets({ tenant }: PowerWorld, { holds }: Actor, tried: readonly Tried[]): Promise<readonly string[]> {
  const gains: string[] = [];
  for (const { write, status, text } of tried.filter(({ text: given }) => given.includes('"client_secret"'))) {
    if (status >= 300) continue;
    const { client_id: id, client_secret: secret } = JSON.parse(text) as Readonly<Record<string, string>>;
    const form = { grant_type: 'client_credentials', client_id: id ?? '', client_secret: secret ?? '' };
    const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { scope = '' } = (await response.json()) as { readonly scope?: string };
    const more = scope.split(' ').filter((one) => known.has(one) && !holds.has(one));
    if (more.length > 0) gains.push(`${write.name} gives a secret that opens ${list(more)}`);
  }
  return gains;
}

/** Who may write what a read shows, and how it is read. */
const written: Readonly<Record<string, readonly Capability[]>> = {
  '/clients?limit=200': ['clients:write'],
  '/initial-access-tokens': ['clients:write'],
  '/resources': ['resources:write'],
  '/custom-attributes': ['settings:write'],
  '/roles': ['administrators:write'],
  '/administrators': ['administrators:write'],
  '/users': ['users:write', 'administrators:write'], // a role is told among what is known of a person
  '/groups': ['groups:write', 'users:write'], // who is deleted leaves their groups
  '/service-providers': ['service-providers:write', 'signing-keys:write'],
  '/identity-providers': ['sign-in:write'],
  '/hooks': ['sign-in:write'],
  '/webhooks': ['webhooks:write'],
  '/organization-roles': ['organizations:write'],
  '/organizations': ['organizations:write', 'users:write'], // who is deleted leaves them
  '/connectors': ['connectors:write'],
  '/directories': ['connectors:write'],
  '/signing-keys': ['signing-keys:write', 'settings:write', 'clients:write', 'service-providers:write'], // a key of an algorithm that had none is made
  '/branding': ['branding:write'],
  '/images': ['branding:write'],
  '/texts/en': ['branding:write'],
  '/mails/pin/en': ['mail:write'],
  '/mail-server': ['sign-in:write'],
  '/domain': ['domain:write'],
  '/mappings/oidc': ['settings:write'],
  '/mappings/saml': ['settings:write'],
  '/mappings/scim': ['settings:write'],
  '/mappings/inbound': ['sign-in:write'],
};

export type Snapshot = ReadonlyMap<string, string>;

/** When somebody signed in last is not written by anybody. */
const withoutSignIns = (name: string, value: unknown): unknown =>
  name === 'last_sign_in_at' || name === 'last_used_at' ? undefined : value;

/** Everything as its owner reads it. */
export async function snapshotOf({ tenant }: PowerWorld): Promise<Snapshot> {
  const found = new Map<string, string>();
  for (const path of Object.keys(written)) found.set(path, JSON.stringify(await tenant.make('GET', path), withoutSignIns));
  return found;
}

/** What changed that somebody else is to write. */
export async function gainsOfChanges(world: PowerWorld, { holds, caller }: Actor, before: Snapshot): Promise<readonly string[]> {
  const gains: string[] = [];
  for (const [path, text] of await snapshotOf(world))
    if (text !== before.get(path) && !written[path]!.some((one) => holds.has(one))) gains.push(`${path} was changed`);
  const { clients, holders } = await strengths(world.tenant);
  const own = new Set([caller.adminClientId, ...world.targets['/clients/']!]);
  for (const [id, scopes] of clients)
    if (
      !own.has(id) &&
      !isOwnClient({ clientId: id }) &&
      !before.get('/clients?limit=200')!.includes(`"${id}"`) &&
      scopes.some((one) => !holds.has(one))
    )
      gains.push(`a client with ${list(scopes.filter((one) => !holds.has(one)))}`);
  const administrators = Object.values(world.people).filter((one) => one.holds.length > 0);
  for (const [id, allowed] of holders)
    if (!administrators.some((one) => one.id === id) && allowed.some((one) => !holds.has(one)))
      gains.push(`a person with ${list(allowed.filter((one) => !holds.has(one)))}`);
  return gains;
}

/** What clients and people hold. */
async function strengths(tenant: Managed) {
  type List<T> = { readonly items: readonly T[] };
  const { items: clients } = await tenant.make<List<{ readonly client_id: string; readonly scopes: readonly string[] }>>(
    'GET',
    '/clients?limit=200',
  );
  const { items: roles } = await tenant.make<List<{ readonly name: string; readonly capabilities: readonly string[] }>>('GET', '/roles');
  const { items: holders } = await tenant.make<List<{ readonly user_id: string; readonly roles: readonly string[] }>>(
    'GET',
    '/administrators',
  );
  const ofRole = new Map(roles.map(({ name, capabilities: allowed }) => [name, allowed]));
  return {
    clients: clients.map(({ client_id: id, scopes }) => [id, scopes.filter((one) => known.has(one))] as const),
    holders: holders.map(({ user_id: id, roles: held }) => [id, held.flatMap((name) => ofRole.get(name) ?? [])] as const),
  };
}

/** Where kept secrets would be told, with the secrets as they are sealed. */
export async function keptOf(
  server: TestServer,
  { stored, targets }: PowerWorld,
): Promise<readonly (readonly [sealed: string, to: string])[]> {
  return server.gatehouse.services.database.read(stored.id, async (queries) => {
    const providers = await Promise.all(targets['/identity-providers/']!.map((id) => findIdentityProvider(queries, stored.id, id)));
    const connectors = await Promise.all(targets['/connectors/']!.map((id) => findConnector(queries, stored.id, id)));
    const directories = await Promise.all(targets['/directories/']!.map((id) => findLdapDirectory(queries, stored.id, id)));
    return [
      ...directories.flatMap((one) => (one?.bindPassword === undefined ? [] : [[one.bindPassword, `${one.url} ${one.bindDn}`] as const])),
      ...providers.flatMap((one) =>
        one?.clientSecret === undefined ? [] : [[one.clientSecret, `${one.issuer} ${one.clientId}`] as const],
      ),
      ...connectors.flatMap((one) =>
        one?.secret === undefined ? [] : [[one.secret, `${new URL(one.baseUrl).origin} ${JSON.stringify(one.auth)}`] as const],
      ),
    ];
  });
}

export async function gainsOfKept(
  server: TestServer,
  world: PowerWorld,
  before: Awaited<ReturnType<typeof keptOf>>,
): Promise<readonly string[]> {
  const was = new Map(before);
  const now = await keptOf(server, world);
  return now.flatMap(([sealed, to]) =>
    was.has(sealed) && was.get(sealed) !== to ? [`a secret that was given for ${was.get(sealed)} goes to ${to}`] : [],
  );
}

/** What mails tell: codes in addresses of somebody else, and whose codes a server of theirs carries. */
export async function gainsOfMails(server: TestServer, world: PowerWorld, { holds }: Actor): Promise<readonly string[]> {
  const { tenant } = world;
  const { text, html } = await tenant.make<{ readonly text: string; readonly html: string }>('GET', '/mails/pin/en/preview');
  const code = '482913';
  const told = [text, html.replaceAll(/<[^>]*>/g, '')]
    .flatMap((whole) => whole.split(/\s+/))
    .filter((word) => word.includes('evil') && word.includes(code));
  const { server: own } = await tenant.make<{ readonly server: Json | null }>('GET', '/mail-server');
  if (own?.['host'] !== new URL(attacker).hostname) return told.map((word) => `a mail tells its code to ${word}`);
  const gains: string[] = [];
  for (const { email, holds: theirs } of Object.values(world.people)) {
    const { first, callback } = await openApp(server, 'console', tenant, email);
    const isMore = theirs.some((one) => !holds.has(one));
    if (isMore && callback.status < 400 && first.status === 200) gains.push(`the mailed code of ${email} opens the console`);
  }
  return [...gains, ...told];
}
