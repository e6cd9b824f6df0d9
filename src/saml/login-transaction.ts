// TEMPORARY in this worktree until sign-in lands.
import type { FastifyRequest } from 'fastify';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { ServiceProvider } from '../domain/service-provider.ts';
import { randomSecret } from '../platform/random.ts';
import type { Queries } from '../storage/database.ts';

export interface StartedLogin {
  readonly url: string;
  readonly cookie: string;
  readonly bindingHash: string;
}

export async function startLoginTransaction(
  _queries: Queries,
  request: FastifyRequest,
  _order: { readonly provider: ServiceProvider; readonly sealedSession: string; readonly lifetimeSeconds: number },
): Promise<StartedLogin> {
  const secret = randomSecret();
  return {
    url: `${request.tenant.baseUrl}/login/x`,
    cookie: `gh-tx-abc=${secret}; Path=/; HttpOnly; SameSite=Lax`,
    bindingHash: hashSecret(secret),
  };
}
