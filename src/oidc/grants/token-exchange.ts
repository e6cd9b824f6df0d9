// Token exchange (RFC 8693; design 18, part 4): an API trades the token it was called with for one of the next API, and a program its
// own for one with less. What comes out has the person, the session and the end of what went in, one audience, and says who acts. Nothing
// is stored: the end of the grant ends what was exchanged. `may_act` is not read.
import { type Cause, type ContractError, reject } from '../../contract/contract-error.ts';
import { actorsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { registeredSpelling, sameResource, spellingsOf } from '../../domain/client/resource.ts';
import type { Exchange } from '../../domain/client/token-exchange.ts';
import { isOwnAudience, type Tenant } from '../../domain/tenant/tenant.ts';
import { findGrant, type Grant, grantFromColumns } from '../../storage/oidc/grants.ts';
import { findTokenState, type TokenState } from '../../storage/oidc/revoked-tokens.ts';
import { findCachedClient } from '../../storage/registry/clients/clients.ts';
import { type AccessToken, type Actor, clientsOf, verifyAccessToken } from '../../tokens/access-token.ts';
import type { RequestParameters } from '../parameters.ts';
import { requestedAudiences } from '../scopes.ts';
import { recordExchange } from './exchange-record.ts';
import { requestedScopes } from './exchange-scopes.ts';
import type { Opened, TokenGrant, TokenRequest } from './grant.ts';
import { examineIdentityAssertion, identityAssertionType } from './identity-assertion.ts';

export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
/** Access tokens of ours are both (RFC 8693 3). */
const tokenTypes: ReadonlySet<string | undefined> = new Set([accessTokenType, 'urn:ietf:params:oauth:token-type:jwt']);

const refused = (cause: Cause): ContractError => reject('exchange.invalid_request', cause);

export const tokenExchangeGrant: TokenGrant = {
  repeatsNonce: false,
  denied: refused,
  examine: async (request) => {
    const { client, parameters, tenant } = request;
    const requested = parameters.get('requested_token_type') ?? accessTokenType;
    if (requested === identityAssertionType) return examineIdentityAssertion(request);
    if (!tokenTypes.has(requested)) throw refused({ reason: 'requested_token_type', received: requested, expected: accessTokenType });
    const { token, grant, state } = await loadSubject(request);
    await checkActor(request);
    const act = actorOf(client, token);
    if (depthOf(act) > actorsMax) throw refused({ reason: 'too_many_actors', received: depthOf(act), expected: actorsMax });
    return {
      grant,
      scopes: token.scopes,
      resource: undefined,
      refusal: 'exchange.invalid_request',
      userState: state.userState,
      redeem: (issue) => recordExchange(request, token, issue),
      exchanged: {
        narrow: () => narrow(tenant, client, parameters, token),
        sub: token.sub,
        act,
        notAfterSeconds: token.expiresAtSeconds,
        issuedTokenType: requested,
      },
    };
  },
};

interface Live {
  readonly token: AccessToken;
  readonly state: TokenState;
}

interface Subject extends Live {
  /** Of the person it speaks of, without what was added for the client it was made for. */
  readonly grant: Grant | undefined;
}

/** The token that is traded: live, and made for the caller or for an API that the caller is. */
async function loadSubject(request: TokenRequest): Promise<Subject> {
  const { services, tenant, client } = request;
  const { token, state } = await loadLive(request, 'subject_token');
  const isOwn = token.clientId === client.clientId;
  if (!isOwn && servedAudience(tenant, client, token) === undefined)
    throw refused({ reason: 'subject_of_another', received: token.audience.join(' '), expected: client.serves.join(' ') });
  if (isOwn) checkKey(request, token);
  const { sid } = token;
  const stored = sid === undefined ? undefined : await services.database.read(tenant.id, (queries) => findGrant(queries, tenant.id, sid));
  // Any of them may have been switched off since, however often it was exchanged.
  await requireEnabled(request, clientsOf(token, state.clientId));
  const grant = stored && { ...grantFromColumns(stored.id, stored), nonce: undefined, claims: undefined, hookClaims: undefined };
  return { token, state, grant };
}

/** An access token of ours from a parameter that is alive now. */
async function loadLive({ services, tenant, parameters }: TokenRequest, name: 'subject_token' | 'actor_token'): Promise<Live> {
  const type = parameters.get(`${name}_type`);
  if (!tokenTypes.has(type)) throw refused({ reason: `${name}_type`, received: type, expected: accessTokenType });
  const keys = services.keyRings.peek(tenant.id) ?? (await services.keyRings.of(tenant.id));
  const verified = verifyAccessToken(tenant, keys, services.clock, parameters.get(name) ?? '');
  if (!verified.ok) throw refused({ reason: `${name}_${verified.reason}` });
  const { token } = verified;
  const state = await services.database.read(tenant.id, (queries) => findTokenState(queries, tenant.id, token));
  if (state.isRevoked) throw refused({ reason: `${name}_revoked`, received: token.jti });
  return { token, state };
}

async function requireEnabled({ services, tenant }: TokenRequest, clientIds: ReadonlySet<string>): Promise<void> {
  for (const clientId of clientIds) {
    const client = await findCachedClient(services.cache, tenant.id, clientId);
    if (client?.enabled !== true) throw refused({ reason: 'client_disabled', received: clientId });
  }
}

/** The audience of the token that the caller is. Tokens for the issuer and the Management API are their own clients' alone. */
const servedAudience = (tenant: Tenant, { serves }: Client, { audience }: AccessToken): string | undefined =>
  audience.find((one) => !isOwnAudience(tenant, one) && registeredSpelling(serves, one) !== undefined);

/** A token of the caller's own that is bound to a key is not loosened by an exchange. */
function checkKey({ proofKey, certificate }: TokenRequest, { claims }: AccessToken): void {
  const { cnf } = claims as { cnf?: { jkt?: string; 'x5t#S256'?: string } }; // mintAccessToken writes it
  const thumbprint = cnf?.['x5t#S256'];
  if (cnf?.jkt !== undefined && cnf.jkt !== proofKey) throw refused({ reason: 'dpop_key_differs', received: proofKey, expected: cnf.jkt });
  if (thumbprint !== undefined && thumbprint !== certificate)
    throw refused({ reason: 'certificate_differs', received: certificate, expected: thumbprint });
}

/** An actor token may say what the authentication of the client has said: that the caller acts. */
async function checkActor(request: TokenRequest): Promise<void> {
  const { client, parameters } = request;
  if (!parameters.has('actor_token') && !parameters.has('actor_token_type')) return;
  const { token } = await loadLive(request, 'actor_token');
  if (token.clientId !== client.clientId || token.sub !== client.clientId)
    throw refused({ reason: 'actor_is_another', received: token.sub, expected: client.clientId });
  checkKey(request, token);
}

/** The caller, before whoever acted until now; nobody where a program trades a token of its own. */
function actorOf({ clientId }: Client, { sub, claims }: AccessToken): Actor | undefined {
  const { act: earlier } = claims as { act?: Actor }; // mintAccessToken writes it
  if (earlier === undefined) return sub === clientId ? undefined : { sub: clientId };
  return earlier.sub === clientId ? earlier : { sub: clientId, act: earlier };
}

const depthOf = (actor: Actor | undefined): number => (actor === undefined ? 0 : 1 + depthOf(actor.act));

const targetText = 'The requested audience is not available for this token.';
const refusedTarget = (cause: Cause): ContractError => reject('exchange.invalid_target', cause, { text: targetText });

/** Fewer scopes at the same audience, or those that the client's rows give for this token at another. */
function narrow(tenant: Tenant, client: Client, parameters: RequestParameters, token: AccessToken): Opened {
  const asked = requestedAudiences(parameters);
  if (asked.length > 1) throw refusedTarget({ reason: 'several_audiences', received: asked.join(' ') });
  const own = token.audience.filter((audience) => !isOwnAudience(tenant, audience));
  const target = asked[0] ?? servedAudience(tenant, client, token) ?? own[0];
  if (target === undefined) throw refusedTarget({ reason: 'audience_missing' });
  if (spellingsOf(target).some((spelling) => isOwnAudience(tenant, spelling)))
    throw refusedTarget({ reason: 'audience_not_allowed', received: target });
  const same = registeredSpelling(own, target);
  const rows = same === undefined ? rowsFor(client, token, target) : [];
  const scopes = same === undefined ? rows.flatMap((row) => row.scopes) : token.scopes;
  return { scopes: requestedScopes(parameters, scopes), resource: same ?? rows[0]?.resource };
}

/** The rows for a target whose needs the token meets, at least one. */
function rowsFor({ exchange }: Client, { scopes }: AccessToken, target: string): readonly Exchange[] {
  const rows = exchange.filter(({ resource }) => sameResource(resource, target));
  const met = rows.filter(({ needs = [] }) => needs.every((scope) => scopes.includes(scope)));
  if (met.length > 0) return met;
  throw refusedTarget({
    reason: rows.length === 0 ? 'audience_not_allowed' : 'needs_not_met',
    received: target,
    expected: rows[0]?.needs?.join(' '),
  });
}
