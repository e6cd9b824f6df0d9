// Clients that nobody here registered (design 18, part 2): by the document at the URL that is their client_id, or by a registration
// without a token. What they are named by, what they may have, and what can be said of them as a fact. Pure.
import type { Client } from './client.ts';
import { isLoopbackHost } from './client-uris.ts';
import { type Resource, strangerScopes } from './resource.ts';

/** Where a client comes from that nobody registered. */
export type Origin = 'document' | 'open';

/** What ids are made of by us for clients that register without a token; a random id of ours has no dot. */
export const openIdPrefix = 'open.';
const documentIdPrefix = 'https://';

export const isDocumentId = (clientId: string): boolean => clientId.startsWith(documentIdPrefix);

/** True for an id that may be a stranger's: its client is not in the configuration cache, which strangers must not fill or empty. */
export const mayBeStranger = (clientId: string): boolean => isDocumentId(clientId) || clientId.startsWith(openIdPrefix);

/** Seconds in which a refresh token that was used may be used again: a program whose connection broke asks again. */
export const strangerRefreshLeewaySeconds = 30;

/** A document is used for so long after it was fetched, whatever its server says, and so much longer while that says nothing. */
export const documentFreshSecondsMin = 300;
export const documentFreshSecondsMax = 86_400;
export const documentStaleSecondsMax = 86_400;

/** One that nobody was let in by is kept so long, and one that nobody has tokens of any more, after the last was let in. */
export const unusedStrangerMs = 86_400_000;
export const idleStrangerMs = 90 * 86_400_000;

/** Addresses of one: of a document, and of a registration without a token. */
export const documentRedirectUrisMax = 20;
export const openRedirectUrisMax = 5;
/** Documents kept in a tenant, oldest unused out first, and clients that registered without a token. */
export const documentsPerTenantMax = 10_000;
export const openClientsPerTenantMax = 10_000;
/** Hosts of such clients that a tenant trusts, or blocks. */
export const clientHostsMax = 100;
export const documentTimeoutMs = 5000;
/** Registrations without a token an hour, for an address block. */
export const openRegistrationsPerHourMax = 20;
/** Fetches of documents a minute, for an address block and for a tenant, and at once for a tenant. */
export const documentFetchesPerBlockMax = 10;
export const documentFetchesPerTenantMax = 60;
export const documentFetchesAtOnceMax = 4;

/** A stranger as this tenant lets it in now: the resources that are open, their scopes and those of sign-in. Undefined when none is open. */
export function strangerAmong(client: Client, open: readonly Resource[]): Client | undefined {
  if (open.length === 0) return undefined;
  return {
    ...client,
    resources: open.map(({ identifier }) => identifier),
    scopes: [...new Set([...strangerScopes, ...open.flatMap(({ scopes }) => scopes.map(({ name }) => name))])],
  };
}

/** Of the scopes a stranger names, those it gets: of sign-in, and of its resource; a resource may keep offline_access back. */
export function strangerScopesOf(asked: readonly string[], resource: Resource | undefined): readonly string[] {
  const own = resource?.scopes.map(({ name }) => name) ?? [];
  return asked.filter((scope) => {
    if (scope === 'offline_access') return resource?.refresh === true;
    return strangerScopes.includes(scope) || own.includes(scope);
  });
}

const hostOf = (uri: string): string => URL.parse(uri)?.host ?? '';

/** Where an answer goes: the host, or undefined for a program on the person's own computer. */
export function answerHost(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri);
  if (url === null || !(url.protocol === 'https:' || url.protocol === 'http:')) return undefined;
  return isLoopbackHost(url.hostname) ? undefined : url.host;
}

/** The host a stranger is known by as a fact: that of its document. One that registered itself has none but where its answers go. */
export const hostOfStranger = ({
  clientId,
  origin,
  redirectUris,
}: Pick<Client, 'clientId' | 'origin' | 'redirectUris'>): string | undefined =>
  origin === 'document' ? hostOf(clientId) : answerHost(redirectUris[0] ?? '');

/** What a client is called where a person decides: its name if somebody registered it, else what is known of it as a fact. */
export const factualName = (client: Client): string => (client.origin === undefined ? client.name : (hostOfStranger(client) ?? ''));

/** Hosts that a tenant's administrators trust or refuse. */
interface ClientHosts {
  readonly trusted: readonly string[];
  readonly blocked: readonly string[];
  readonly only_trusted: boolean;
}

/** Whether a host is one of these: `claude.ai`, or any below by `*.claude.ai`. */
const isAmongHosts = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one));

/** Names without a port block every port, and a dot at the end of a name, which is the same host, changes nothing. */
function isBlocked(host: string, blocked: readonly string[]): boolean {
  const [, name = '', port = ''] = /^(.*?)\.?(:\d+)?$/.exec(host) ?? [];
  return isAmongHosts(name, blocked) || (port !== '' && isAmongHosts(name + port, blocked));
}

/** What the lists of a tenant say of the host a stranger is known by. */
export const standings = ['trusted', 'blocked', 'unchecked'] as const;
export type Standing = (typeof standings)[number];

/** The host alone: a stranger may be kept out for another address of its own. Nothing makes one trusted that registered itself. */
export function standingOf(
  { host, origin }: { readonly host: string | undefined; readonly origin: Origin },
  { trusted, blocked }: Pick<ClientHosts, 'trusted' | 'blocked'>,
): Standing {
  if (host === undefined) return 'unchecked';
  if (isBlocked(host, blocked)) return 'blocked';
  return isTrustedHost(host, origin, trusted) ? 'trusted' : 'unchecked';
}

const isTrustedHost = (host: string | undefined, origin: Origin | undefined, trusted: readonly string[]): boolean =>
  host !== undefined && origin === 'document' && isAmongHosts(host, trusted);

/** Why an administrator keeps a stranger out; undefined where nobody does. */
export function hostFault(client: Pick<Client, 'clientId' | 'origin' | 'redirectUris'>, hosts: ClientHosts): string | undefined {
  if (client.origin === undefined) return undefined;
  const all = [hostOfStranger(client), ...client.redirectUris.map(answerHost)].filter((host) => host !== undefined);
  if (all.some((host) => isBlocked(host, hosts.blocked))) return 'client_host_blocked';
  return hosts.only_trusted && !isTrusted(client, hosts) ? 'client_host_not_trusted' : undefined;
}

/** Whether an administrator said that a stranger is known; one that registered itself can say nothing that is checked. */
export const isTrusted = (client: Pick<Client, 'clientId' | 'origin' | 'redirectUris'>, { trusted }: ClientHosts): boolean =>
  isTrustedHost(hostOfStranger(client), client.origin, trusted);

/** What is wrong with an entry of client_hosts. */
export const clientHostSyntax = '^(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$';

/**
 * What is wrong with a URL as a client_id (draft-ietf-oauth-client-id-metadata-document 3); undefined for nothing. Compared as text, so
 * it must be spelled as a URL parser would spell it.
 */
export function documentIdFault(clientId: string, charsMax: number): string | undefined {
  if (clientId.length > charsMax) return 'too_long';
  if (/[^\x21-\x7e]/.test(clientId)) return 'characters';
  const url = URL.parse(clientId);
  if (url === null || url.protocol !== 'https:') return 'not_https';
  if (url.username !== '' || url.password !== '' || clientId.includes('@')) return 'userinfo';
  if (clientId.includes('#')) return 'fragment';
  if (clientId.includes('?')) return 'query';
  if (url.pathname === '/') return 'no_path';
  // A dot segment would be taken out by the parser.
  return url.href === clientId && !/\/(\.|%2e){1,2}(\/|$)/i.test(url.pathname) ? undefined : 'not_as_serialised';
}
