// What an assertion opens: an API that the client is registered for, and scopes of it, without anybody signing in. The Management API is
// opened by client_credentials alone (contract 5).
import { reject } from '../../contract/contract-error.ts';
import type { Client } from '../../domain/client/client.ts';
import { registeredSpelling } from '../../domain/client/resource.ts';
import { standardScopes } from '../../domain/oidc/standard-scopes.ts';
import { isOwnAudience, type Tenant } from '../../domain/tenant/tenant.ts';
import type { RequestParameters } from '../parameters.ts';
import { capabilitiesOf, requestedAudiences } from '../scopes.ts';

/** Scopes of APIs among those of the client: capabilities are the Management API's. */
export function scopesOf(client: Client): readonly string[] {
  const others: ReadonlySet<string> = new Set([...standardScopes, ...capabilitiesOf(client)]);
  return client.scopes.filter((scope) => !others.has(scope));
}

/** The APIs of the client. */
export const apisOf = (tenant: Tenant, { resources }: Client): readonly string[] =>
  resources.filter((resource) => !isOwnAudience(tenant, resource));

/** The API asked for, or the only one there is. @throws token.invalid_target */
export function apiAskedFor(open: readonly string[], parameters: RequestParameters): string {
  const asked = requestedAudiences(parameters);
  const found =
    asked.length === 0 && open.length === 1 ? open[0] : asked.length === 1 ? registeredSpelling(open, asked[0] ?? '') : undefined;
  if (found !== undefined) return found;
  throw reject(
    'token.invalid_target',
    { reason: asked.length === 0 ? 'audience_missing' : 'audience_not_allowed', received: asked.join(' '), expected: open.join(' ') },
    { text: 'The requested audience is not available to this client.' },
  );
}
