// jwt-bearer by an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant 4.4; design 18, part 5): the provider of a company says
// which of its people a client acts for, and nobody is sent anywhere. Whom that is here, is decided as at a sign-in by that provider: by the
// link there is, or by the one word that links. A grant is made, so that the person sees it and ends it. No refresh token: who speaks for
// people can be asked again.

import { linkIdentity, speaksForOwner } from '../../approvals/link-identity.ts';
import { ownerOfProvider } from '../../approvals/organizations/customer-providers.ts';
import { type Cause, type ContractError, reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { ParsedJwt } from '../../crypto/signing/jwt.ts';
import { defaultScopes, sameResource } from '../../domain/client/resource.ts';
import { foldKey } from '../../domain/fold.ts';
import type { ExternalIdentityId, GrantId, UserId } from '../../domain/ids.ts';
import { offlineScope } from '../../domain/oidc/standard-scopes.ts';
import { acrFor } from '../../domain/organizations/sign-in-rule.ts';
import { signedInAtMs } from '../../domain/sign-in/external-identity.ts';
import { authenticationContexts, externalMethod } from '../../domain/sign-in/login-methods.ts';
import { identityIn } from '../../federation/openid-identity.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { consumeClientAssertion } from '../../storage/oidc/client-assertions.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import { holdActiveUser } from '../../storage/people/user-writer.ts';
import { findUser, findUserOfEmail } from '../../storage/people/users.ts';
import { findCachedResource } from '../../storage/registry/clients/resources.ts';
import { findExternalIdentity, touchExternalIdentity } from '../../storage/sign-in/external-identities.ts';
import { type CrossAppAssertion, verifyCrossApp } from '../client/cross-app-assertion.ts';
import { parseScopes } from '../scopes.ts';
import { apiAskedFor, apisOf, scopesOf } from './api-of-client.ts';
import type { Examined, Issue, TokenRequest } from './grant.ts';
import { storeGrant } from './new-grant.ts';

const refused = (cause: Cause): ContractError => reject('jwt_bearer.assertion_invalid', cause);

/** @param refuse throws, and counts a failure of the address */
export async function examineCrossApp(request: TokenRequest, jwt: ParsedJwt, refuse: (cause: Cause) => Promise<never>): Promise<Examined> {
  const { services, tenant, client } = request;
  const assertion = await verifyCrossApp(services, tenant, client, jwt);
  if ('reason' in assertion) return refuse(assertion);
  const identity = identityIn(assertion.provider, assertion.claims);
  const person = await services.database.read(tenant.id, (queries) => findPerson(queries, request, identity));
  if (person === undefined) return refuse({ reason: 'unknown_person', received: identity.subject, expected: assertion.provider.alias });
  const resource = apiIn(request, assertion);
  const scopes = await scopesIn(request, assertion, resource);
  const nowMs = services.clock.nowMs();
  const grant: Grant = {
    id: uuidV7(nowMs) as GrantId, // made here
    clientId: client.clientId,
    userId: person.id,
    scope: '', // that of the token, once it is known
    resource,
    authTimeSeconds: Math.floor(signedInAtMs(identity, nowMs) / 1000),
    // What a customer's provider says is worth that for the customer's organisation alone, and this is for none.
    acr: acrFor({ method: externalMethod, acr: identity.acr, providerOf: person.providerOf }, undefined),
    amr: authenticationContexts[externalMethod].amr,
    nonce: undefined,
    maxAgeSeconds: undefined,
    dpopJkt: undefined,
    certificateThumbprint: undefined,
  };
  return {
    grant,
    scopes,
    unheardScope: offlineScope,
    resource,
    refusal: 'jwt_bearer.assertion_invalid',
    userState: person.state,
    redeem: (issue) => redeem(request, assertion, { identity, grant, issue }),
  };
}

type Identity = ReturnType<typeof identityIn>;

/** Whom the assertion is of, before anything is written: who is linked, or whose email its provider may speak for. */
async function findPerson(
  queries: Queries,
  { tenant }: TokenRequest,
  identity: Identity,
): Promise<{ readonly id: UserId; readonly state: string; readonly providerOf: string | undefined } | undefined> {
  const link = await findExternalIdentity(queries, tenant.id, identity);
  const { email, emailCounts, ownDomain, providerId } = identity;
  const mayBeEmail = link === undefined && emailCounts && ownDomain !== undefined && email !== undefined;
  const id = link?.user_id ?? (mayBeEmail ? (await findUserOfEmail(queries, tenant.id, foldKey(email)))?.id : undefined);
  const person = id && (await findUser(queries, tenant.id, id));
  return person && { id: person.id, state: person.state, providerOf: await ownerOfProvider(queries, tenant, providerId) };
}

/** The API that the assertion is for, where it says so. */
function apiIn({ tenant, client, parameters }: TokenRequest, { claims }: CrossAppAssertion): string {
  const { resource: said } = claims;
  const open = apisOf(tenant, client);
  if (said === undefined) return apiAskedFor(open, parameters);
  const named: readonly unknown[] = Array.isArray(said) ? said : [said];
  if (!named.every((one) => typeof one === 'string')) throw refused({ reason: 'assertion_resource', received: JSON.stringify(said) });
  return apiAskedFor(
    open.filter((api) => named.some((one) => sameResource(one, api))),
    parameters,
  );
}

/** What the assertion gives of what the client is registered for (RFC 6749 3.3: less may be given); the API's default where it says nothing. */
async function scopesIn(
  { services, tenant, client }: TokenRequest,
  { claims }: CrossAppAssertion,
  api: string,
): Promise<readonly string[]> {
  const own = scopesOf(client);
  const { scope: said } = claims;
  if (said === undefined) {
    const resource = await findCachedResource(services.cache, tenant.id, api);
    return resource === undefined ? [] : defaultScopes(resource).filter((scope) => own.includes(scope));
  }
  const given = typeof said === 'string' ? parseScopes(said) : undefined;
  if (given === undefined) throw refused({ reason: 'assertion_scope', received: typeof said });
  const both = own.filter((scope) => given.includes(scope));
  if (both.length > 0) return both;
  throw reject(
    'token.invalid_scope',
    { reason: 'scope_not_bound', received: given.join(' '), expected: own.join(' ') },
    { text: 'A scope is not bound to this client.' },
  );
}

interface Redeeming {
  readonly identity: Identity;
  readonly grant: Grant;
  readonly issue: Issue;
}

/** Uses the assertion up, for a person who is still the one it is of, together with the grant. */
async function redeem(request: TokenRequest, assertion: CrossAppAssertion, { identity, grant, issue }: Redeeming): Promise<undefined> {
  const { services, tenant } = request;
  await services.database.write(tenant.id, async (queries) => {
    if (!(await consumeClientAssertion(queries, tenant.id, hashSecret(assertion.key), assertion.expiresAtMs)))
      throw refused({ reason: 'assertion_replayed', received: String(assertion.claims['jti']) });
    const externalIdentityId = await linkOf(queries, request, identity, grant.userId);
    const made = { ...grant, externalIdentityId, scope: issue.scopes.join(' ') };
    const { accessTokenLifetimeSeconds } = issue;
    await storeGrant(
      queries,
      tenant,
      services.clock.nowMs(),
      { grant: made, refreshToken: undefined, accessTokenLifetimeSeconds, requestId: request.request.id },
      { provider: assertion.provider.alias },
    );
  });
  return undefined;
}

/** The link of the person, made where the provider speaks for them. */
async function linkOf(
  queries: Queries,
  { services, tenant, request }: TokenRequest,
  identity: Identity,
  userId: UserId,
): Promise<ExternalIdentityId> {
  const link = await touchExternalIdentity(queries, tenant.id, identity);
  if (link !== undefined) {
    const isTheirs = link.user_id === userId && (await holdActiveUser(queries, tenant.id, userId));
    if (isTheirs) return link.id;
    throw refused({ reason: 'person_changed', received: link.user_id, expected: userId });
  }
  if (!(await speaksForOwner(queries, tenant, identity, userId))) throw refused({ reason: 'unknown_person', received: identity.subject });
  const linkedSince = async (): Promise<ExternalIdentityId | undefined> => {
    const since = await touchExternalIdentity(queries, tenant.id, identity);
    return since?.user_id === userId ? since.id : undefined;
  };
  // Another assertion of the same person may have linked while this one waited for the account, a browser while it waited to link.
  const made =
    (await linkedSince()) ??
    (await linkIdentity(queries, services, tenant, { identity, userId, requestId: request.id })) ??
    (await linkedSince());
  if (made === undefined) throw refused({ reason: 'provider_gone', received: identity.providerId });
  return made;
}
