// Token exchange for an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant 4.3; design 18, part 5): a client to whom somebody
// signed in gets what its server elsewhere takes for a token of theirs. The person is not asked: the administrator wrote down which servers,
// APIs and scopes (`cross_app_access`). Nothing is stored; the end of the grant ends the next one.
import { type Cause, type ContractError, reject } from '../../contract/contract-error.ts';
import type { KeyRing } from '../../crypto/key-ring.ts';
import type { CrossApp } from '../../domain/client/cross-app.ts';
import { registeredSpelling, sameResource } from '../../domain/client/resource.ts';
import { shownRules } from '../../domain/mappings/claims.ts';
import { offlineScope } from '../../domain/oidc/standard-scopes.ts';
import { nowSeconds } from '../../platform/clock.ts';
import { findGrant, type Grant, grantFromColumns } from '../../storage/oidc/grants.ts';
import { findTokenState } from '../../storage/oidc/revoked-tokens.ts';
import { verifyIdTokenHint } from '../../tokens/id-token.ts';
import { identityAssertionSeconds, mintIdentityAssertion } from '../../tokens/identity-assertion.ts';
import { claimsFor, findPerson, rulesOfClient } from '../user-claims.ts';
import { recordExchange } from './exchange-record.ts';
import { requestedScopes } from './exchange-scopes.ts';
import type { Examined, TokenRequest } from './grant.ts';

export const identityAssertionType = 'urn:ietf:params:oauth:token-type:id-jag';
const idTokenType = 'urn:ietf:params:oauth:token-type:id_token';

const refused = (cause: Cause): ContractError => reject('exchange.invalid_request', cause);
const targetText = 'The requested audience is not available for this token.';
const refusedTarget = (cause: Cause): ContractError => reject('exchange.invalid_target', cause, { text: targetText });

export async function examineIdentityAssertion(request: TokenRequest): Promise<Examined> {
  const { parameters } = request;
  if (parameters.has('actor_token') || parameters.has('actor_token_type')) throw refused({ reason: 'actor_token' });
  const { grant, userState } = await loadSignedIn(request);
  const subject = { sub: grant.userId, clientId: grant.clientId };
  return {
    grant,
    scopes: [],
    resource: undefined,
    refusal: 'exchange.invalid_request',
    userState,
    redeem: async (issue) => {
      const { row } = targetOf(request);
      return recordExchange(request, subject, { ...issue, resource: row.issuer });
    },
    exchanged: {
      narrow: () => {
        const { scopes } = targetOf(request).row;
        const unheard = scopes.includes(offlineScope) ? undefined : offlineScope;
        return { scopes: requestedScopes(parameters, scopes, unheard), resource: undefined };
      },
      sub: grant.userId,
      act: undefined,
      notAfterSeconds: Number.POSITIVE_INFINITY,
      issuedTokenType: identityAssertionType,
      assertion: {
        lifetimeSeconds: identityAssertionSeconds,
        mint: (keys, scopes) => mintFor(request, grant, keys, scopes),
      },
    },
  };
}

/** Whoever signed in to the caller: by an ID token of ours for it, whose grant is alive. */
async function loadSignedIn({
  services,
  tenant,
  client,
  parameters,
}: TokenRequest): Promise<{ grant: Grant; userState: string | undefined }> {
  const type = parameters.get('subject_token_type');
  if (type !== idTokenType) throw refused({ reason: 'subject_token_type', received: type, expected: idTokenType });
  const keys = services.keyRings.peek(tenant.id) ?? (await services.keyRings.of(tenant.id));
  const verified = verifyIdTokenHint(tenant, keys, parameters.get('subject_token') ?? '');
  if (!verified.ok) throw refused({ reason: `subject_token_${verified.reason}` });
  const { sub, sid, clientId, expiresAtSeconds } = verified.hint;
  if (clientId !== client.clientId) throw refused({ reason: 'subject_of_another', received: clientId, expected: client.clientId });
  if (nowSeconds(services.clock) >= expiresAtSeconds) throw refused({ reason: 'subject_token_expired' });
  const { state, stored } = await services.database.read(tenant.id, async (queries) => ({
    state: await findTokenState(queries, tenant.id, { jti: '', sid, sub }), // an ID token is on no deny-list
    stored: await findGrant(queries, tenant.id, sid),
  }));
  if (state.isRevoked || stored === undefined) throw refused({ reason: 'subject_token_revoked', received: sid });
  return { grant: grantFromColumns(stored.id, stored), userState: state.userState };
}

/** The server and the API that are meant: those of a row of the client. */
function targetOf({ client, parameters }: TokenRequest): { readonly row: CrossApp; readonly resource: string } {
  const audiences = parameters.getAll('audience');
  const [audience] = audiences;
  if (audience === undefined || audiences.length > 1) throw refusedTarget({ reason: 'audience_missing', received: audiences.join(' ') });
  const row = client.crossAppAccess.find(({ issuer }) => sameResource(issuer, audience));
  if (row === undefined) throw refusedTarget({ reason: 'audience_not_allowed', received: audience });
  const asked = parameters.getAll('resource');
  if (asked.length > 1) throw refusedTarget({ reason: 'several_resources', received: asked.join(' ') });
  const only = row.resources.length === 1 ? row.resources[0] : undefined;
  const resource = asked[0] === undefined ? only : registeredSpelling(row.resources, asked[0]);
  if (resource === undefined)
    throw refusedTarget({ reason: 'resource_not_allowed', received: asked[0], expected: row.resources.join(' ') });
  return { row, resource };
}

async function mintFor(request: TokenRequest, grant: Grant, keys: KeyRing, scopes: readonly string[]): Promise<string> {
  const { services, tenant, client } = request;
  const { row, resource } = targetOf(request);
  return mintIdentityAssertion(tenant, keys, services.clock, {
    alg: client.idTokenSignedResponseAlg,
    sub: grant.userId,
    audience: row.issuer,
    clientId: row.client_id,
    resource,
    scope: scopes.join(' '),
    authTimeSeconds: grant.authTimeSeconds,
    acr: grant.acr,
    amr: grant.amr,
    userClaims: await emailFor(request, grant),
  });
}

/** Their email as UserInfo says it to the client, with the scope of its own that shows it. */
async function emailFor({ services, tenant, client, request }: TokenRequest, grant: Grant): Promise<Readonly<Record<string, unknown>>> {
  const rules = shownRules(rulesOfClient(tenant, client), 'userinfo', grant.scope.split(' '));
  const person = await services.database.read(tenant.id, (queries) => findPerson(queries, tenant, grant.userId, rules));
  const about = { clientId: client.clientId, person, acr: grant.acr, requestId: request.id };
  const { email, email_verified } = await claimsFor(services, tenant, { ...about, place: 'userinfo', rules });
  return email === undefined ? {} : { email, email_verified };
}
