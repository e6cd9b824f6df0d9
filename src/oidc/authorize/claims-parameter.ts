// The `claims` parameter (OpenID Connect Core 5.5, 5.5.1): claims one by one for the ID token or UserInfo, within the scopes of the
// client. Unknown claims are ignored, as are values wanted of claims we cannot choose; `sub` names the account, and an essential
// `acr` must be met. Read by authorize, checked there and at PAR.
import type { OidcLoginRequest } from '../../approvals/start-login.ts';
import { reject } from '../../contract/contract-error.ts';
import { requestedClaimsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { acrValuesSupported, meetsAcrValues } from '../../domain/sign-in/login-methods.ts';
import { offeredMethods } from '../../domain/sign-in/sign-in-strength.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { parseStrictJson } from '../../http/strict-json.ts';
import { listProvidersFor } from '../../storage/registry/organization-providers.ts';
import type { RequestParameters } from '../parameters.ts';
import type { Fault } from '../row-fault.ts';
import { scopeOf } from '../user-claims.ts';

type ClaimsFault = 'claims_not_json' | 'claims_malformed' | 'claims_too_many' | 'claims_acr' | 'claims_sub';

/** What a claim is asked for with; null in JSON is none of these. */
interface Wish {
  readonly essential: boolean;
  readonly values: readonly unknown[];
}

type Wishes = Readonly<Record<'id_token' | 'userinfo', ReadonlyMap<string, Wish>>>;

export function claimsWellFormed({ parameters }: { readonly parameters: RequestParameters }): Fault | undefined {
  const read = readWishes(parameters);
  if (read.ok) return undefined;
  const text = read.reason === 'claims_too_many' ? `claims asks for more than ${requestedClaimsMax} claims.` : 'claims is malformed.';
  return { reason: read.reason, text };
}

/** What a request that was checked asks by its claims: of the sign-in, and for the tokens. */
export function readClaims(tenant: Tenant, client: Client, parameters: RequestParameters): Partial<OidcLoginRequest> {
  const read = readWishes(parameters);
  if (!read.ok) throw new Error(`claims were not checked: ${read.reason}`);
  const { id_token: idToken, userinfo } = read.wishes;
  const [inIdToken, inUserInfo] = [shownTo(client, tenant, idToken), shownTo(client, tenant, userinfo)];
  const isNone = Object.keys(inIdToken).length + Object.keys(inUserInfo).length === 0;
  const sub = idToken.get('sub')?.values[0] ?? userinfo.get('sub')?.values[0];
  const acr = idToken.get('acr');
  const acrValues = acr === undefined || acr.values.length === 0 ? undefined : acr.values.join(' ');
  return {
    ...(isNone ? {} : { claims: { id_token: inIdToken, userinfo: inUserInfo } }),
    ...(typeof sub === 'string' ? { idTokenHintUser: sub } : {}),
    ...(acrValues === undefined ? {} : { acrValues }),
    ...(acrValues === undefined || acr?.essential !== true ? {} : { essentialAcr: acrValues }),
  };
}

/** The claims a client may have, each with its scope. */
function shownTo(client: Client, tenant: Tenant, wishes: ReadonlyMap<string, Wish>): Readonly<Record<string, string>> {
  const known = [...wishes.keys()].map((name) => [name, scopeOf(tenant, client, name)] as const);
  return Object.fromEntries(known.filter((pair): pair is [string, string] => pair[1] !== undefined && client.scopes.includes(pair[1])));
}

/** A voluntary acr, where anybody here can meet it; what nobody can is answered with the sign-in's own (OpenID Connect Core 5.5.1.1). */
export async function meetableAcr(
  { cache }: Parts<'cache'>,
  tenant: Tenant,
  { acrValues, organizationId }: { readonly acrValues?: string | undefined; readonly organizationId?: string | undefined },
): Promise<string | undefined> {
  if (acrValues === undefined || offeredMethods(tenant.settings.login_methods, { kind: 'oidc', acr_values: acrValues }).length > 0)
    return acrValues;
  const providers = await listProvidersFor(cache, tenant, organizationId);
  const isMet = providers.some(({ acrMap }) => Object.values(acrMap).some((acr) => meetsAcrValues(acr, acrValues)));
  return isMet ? acrValues : undefined;
}

/** Refuses at once what no sign-in here can meet; other providers may say anything of theirs. */
export async function refuseUnmeetableAcr(
  { cache }: Parts<'cache'>,
  tenant: Tenant,
  { essentialAcr, organizationId }: { readonly essentialAcr: string; readonly organizationId: string | undefined },
): Promise<void> {
  const known = essentialAcr.split(' ').filter((value) => (acrValuesSupported as readonly string[]).includes(value));
  const asked = { kind: 'oidc', acr_values: known.join(' ') };
  const isMet = known.length > 0 && offeredMethods(tenant.settings.login_methods, asked).length > 0;
  if (isMet || (known.length > 0 && (await listProvidersFor(cache, tenant, organizationId)).length > 0)) return;
  throw reject('authorize.unmet_authentication_requirements', { reason: 'acr_unmet', received: essentialAcr });
}

function readWishes(parameters: RequestParameters): Outcome<{ readonly wishes: Wishes }, ClaimsFault> {
  const text = parameters.get('claims');
  if (text === undefined) return { ok: true, wishes: { id_token: new Map(), userinfo: new Map() } };
  const parsed = parseStrictJson(Buffer.from(text));
  if (!parsed.ok) return fail('claims_not_json');
  if (!isObject(parsed.value)) return fail('claims_malformed');
  const idToken = readMember(parsed.value['id_token']);
  const userinfo = readMember(parsed.value['userinfo']);
  if (idToken === undefined || userinfo === undefined) return fail('claims_malformed');
  if (idToken.size + userinfo.size > requestedClaimsMax) return fail('claims_too_many');
  if (!(idToken.get('acr')?.values ?? []).every((value) => typeof value === 'string' && /^\S+$/.test(value))) return fail('claims_acr');
  const subs = new Set([...(idToken.get('sub')?.values ?? []), ...(userinfo.get('sub')?.values ?? [])]);
  if (subs.size > 1 || ![...subs].every((sub) => typeof sub === 'string')) return fail('claims_sub');
  return { ok: true, wishes: { id_token: idToken, userinfo } };
}

/** One member of the request; undefined when it is malformed. */
function readMember(member: unknown): ReadonlyMap<string, Wish> | undefined {
  if (member === undefined || member === null) return new Map();
  if (!isObject(member)) return undefined;
  const wishes = new Map<string, Wish>();
  for (const [name, asked] of Object.entries(member)) {
    if (asked !== null && !isObject(asked)) return undefined;
    const { essential = false, value, values = [] } = asked ?? {};
    if (typeof essential !== 'boolean' || !Array.isArray(values)) return undefined;
    wishes.set(name, { essential, values: value === undefined ? values : [value, ...values] });
  }
  return wishes;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
