// Linking an account elsewhere from the account page (design 14, 2): the person is signed in here, signs in there once more, and the two
// are linked. Whatever way the answer comes it is kept, and fetched only with the key of the browser that brought it, in the very
// session that asked: nobody's account elsewhere is linked to somebody else's account here. Handed to account/.

import type { FastifyRequest } from 'fastify';
import { linkIdentity } from '../../approvals/link-identity.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { ageFault } from '../../domain/sign-in/external-identity.ts';
import { protocols } from '../../federation/protocols.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { holdGrant } from '../../storage/oidc/grants.ts';
import { holdActiveUser } from '../../storage/people/user-writer.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { listProvidersFor } from '../../storage/registry/organization-providers.ts';
import { linkTransaction } from '../../storage/sign-in/external-logins.ts';
import { type LinkFor, openSentWith } from '../../tokens/provider-secret.ts';
import { takeKeptAnswer } from './external-return.ts';
import { type ExternalDeps, sendAway, upstreamOf } from './external-steps.ts';
import { mapInbound } from './inbound.ts';

/** Where to send the browser and whose place that is; the reason of a failure is in the audit record. */
export async function startLink(
  services: ExternalDeps,
  request: FastifyRequest,
  alias: string,
  link: LinkFor,
): Promise<Outcome<{ readonly location: string; readonly providerName: string }, string>> {
  const { tenant } = request;
  const provider = (await listProvidersFor(services.cache, tenant, undefined)).find((one) => one.alias === alias);
  if (provider === undefined) return fail('unknown_provider');
  const address = `identify:${addressBlock(request.clientAddress)}`;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', address);
  // Whoever it is signs in there again: nobody links what merely happens to be open in this browser.
  const wish = { maxAgeSeconds: undefined, signInAgain: true, loginHint: undefined, uiLocales: undefined };
  const started = await sendAway(services, tenant, provider, { wish, transactionId: linkTransaction, keepsSession: false, link });
  return started.ok ? { ...started, providerName: provider.name } : recordFailure(services, request, link, started.detail);
}

/** GET /account/links/return?state&answer: links whoever came back; the reason of a failure is in the audit record. */
export async function finishLink(services: ExternalDeps, request: FastifyRequest, link: LinkFor): Promise<Outcome<object, string>> {
  const { tenant } = request;
  const taken = await takeKeptAnswer(services, request, linkTransaction);
  if (!taken.ok) return recordFailure(services, request, link, taken.reason);
  const { provider, used, state, parameters } = taken;
  const sent = openSentWith(services.encryption, tenant.id, hashSecret(state), used.sealed);
  if (sent.link?.userId !== link.userId || sent.link.grantId !== link.grantId)
    return recordFailure(services, request, link, 'of_another_session');
  const { nonce, verifier } = sent;
  const upstream = upstreamOf(services, tenant, provider);
  const found = await protocols[provider.kind].identify(services, upstream, {
    parameters,
    state,
    nonce,
    verifier,
  });
  if (!found.ok) return recordFailure(services, request, link, found.detail);
  const asked = { maxAgeSeconds: undefined, newSinceMs: found.identity.authTimeMs === undefined ? undefined : used.created_at };
  const tooOld = ageFault(found.identity, asked, services.clock.nowMs());
  if (tooOld !== undefined) return recordFailure(services, request, link, tooOld);
  const identity = await mapInbound(services, request, tenant, provider, found);
  const fault = await services.database.write(tenant.id, async (queries) => {
    const isOpen = (await holdActiveUser(queries, tenant.id, link.userId)) && (await holdGrant(queries, tenant.id, link.grantId));
    if (!isOpen) return 'session_ended';
    const linked = await linkIdentity(queries, services, tenant, { identity, userId: link.userId, requestId: request.id });
    return linked === undefined ? 'linked_already' : undefined;
  });
  return fault === undefined ? { ok: true } : recordFailure(services, request, link, fault);
}

async function recordFailure(
  services: ExternalDeps,
  request: FastifyRequest,
  { userId }: LinkFor,
  reason: string,
): Promise<{ readonly ok: false; readonly reason: string }> {
  await services.database.write(request.tenant.id, (queries) =>
    insertAuditEvent(queries, request.tenant.id, services.clock.nowMs(), {
      type: 'external_identity.link_failed',
      requestId: request.id,
      actor: `user:${userId}`,
      target: `user:${userId}`,
      reason,
      data: { ip: request.clientAddress },
    }),
  );
  return { ok: false, reason };
}
