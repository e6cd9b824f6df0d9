// The hook at point token (design 16, 3), for the token endpoint and for CIBA pushes: asked after the scope checks and before the
// redeem, outside any transaction, so that a hook that fails burns neither code nor refresh token nor CIBA request.
import { reject } from '../contract/contract-error.ts';
import type { Client } from '../domain/client/client.ts';
import { type HookClaims, hookFor, mergeClaims } from '../domain/extending/hook.ts';
import type { GrantType } from '../domain/oidc/grant-types.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { HookVerdict } from '../hooks/hooks.ts';
import { hookOrganization, hookUser } from '../hooks/subject.ts';
import type { Parts } from '../http/services.ts';
import type { Grant } from '../storage/oidc/grants.ts';
import type { TokenGrant } from './grants/grant.ts';

type TokenHookDeps = Parts<'database' | 'hooks'>;

interface TokensAsked {
  readonly grantType: GrantType;
  readonly client: Client;
  /** Undefined when the client acts for itself. */
  readonly grant: Grant | undefined;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  /** Whose tokens they are for. */
  readonly organization: HeldOrganization | undefined;
  readonly requestId: string | undefined;
}

/** What the hook says; undefined when there is none for this client. */
export async function askTokenHook(
  { database, hooks }: TokenHookDeps,
  tenant: Tenant,
  { grantType, client, grant, scopes, resource, organization, requestId }: TokensAsked,
): Promise<HookVerdict | undefined> {
  const hook = hookFor(tenant.hooks, 'token', client.clientId);
  if (hook === undefined) return undefined;
  const data = {
    client: { client_id: client.clientId, name: client.name },
    user: grant === undefined ? null : await hookUser(database, tenant, grant.userId),
    ...hookOrganization(tenant, organization),
    grant_type: grantType,
    scopes,
    audience: resource ?? null,
    session: grant === undefined ? null : { id: grant.id, acr: grant.acr ?? null, amr: grant.amr, auth_time: grant.authTimeSeconds },
  };
  return hooks.ask({ tenant: tenant.id, hook, requestId, data, target: `client:${client.clientId}` });
}

/** The claims that the hooks of sign-in and token add. @throws the grant's row when it is denied, oauth.unavailable when it fails */
export async function hookedClaims(
  deps: TokenHookDeps,
  tenant: Tenant,
  type: TokenGrant,
  asked: TokensAsked,
): Promise<HookClaims | undefined> {
  const verdict = await askTokenHook(deps, tenant, asked);
  if (verdict === undefined || verdict.ok) return mergeClaims(asked.grant?.hookClaims, verdict?.claims);
  const cause = { reason: `hook_${verdict.reason}`, received: verdict.text, expected: `hook:${verdict.hook}` };
  if (verdict.reason === 'denied') throw type.denied(cause);
  throw reject('oauth.unavailable', cause, { retryAfterSeconds: verdict.retryAfterSeconds });
}

type Claims = Readonly<Record<string, unknown>>;

/** What is said of the person, with what a hook adds: it takes no claim over. */
export const withAdded = (claims: Claims, added: Claims | undefined): Claims => (added === undefined ? claims : { ...added, ...claims });
