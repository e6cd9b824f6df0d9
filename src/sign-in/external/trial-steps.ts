// Somebody tries another provider before people see its button: an administrator (design 23, part 3), or whoever sets an organisation up
// (design 19). They sign in there for real, and what came back is shown to them alone. Nobody is signed in here, linked or made. The answer is
// kept and fetched as that of linking is: with the key of the browser that brought it, by whoever asked. Also for providers that are not
// enabled yet. Handed to console/ and organization-setup/.
import type { FastifyRequest } from 'fastify';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Json } from '../../domain/field.ts';
import type { InboundValues } from '../../domain/mappings/inbound.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import { protocols } from '../../federation/protocols.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Parts } from '../../http/services.ts';
import { randomSecret } from '../../platform/random.ts';
import { findProviderById } from '../../storage/registry/identity-providers.ts';
import { trialTransaction } from '../../storage/sign-in/external-logins.ts';
import { openSentWith, type TrialFor } from '../../tokens/provider-secret.ts';
import { takeKeptAnswer } from './external-return.ts';
import { type ExternalDeps, sendAway, upstreamOf } from './external-steps.ts';
import { mapInbound } from './inbound.ts';

/** What a provider said of whoever tried it, and what rules make of that. */
export interface Tried {
  readonly providerId: string;
  readonly alias: string;
  /** When the browser was sent there: whatever was changed since is not tried. */
  readonly startedAtMs: number;
  readonly subject: string;
  readonly email: string | undefined;
  /** False: a code is mailed there before the email counts. */
  readonly emailCounts: boolean;
  readonly acr: string;
  readonly claims: Json;
  /** What a new account would begin with, and what every sign-in would write. */
  readonly create: InboundValues;
  readonly always: InboundValues;
}

const providerOfId = (services: Parts<'cache'>, { tenant }: FastifyRequest, id: string): Promise<IdentityProvider | undefined> =>
  findProviderById(services.cache, tenant, id);

const wish = { maxAgeSeconds: undefined, signInAgain: false, loginHint: undefined, uiLocales: undefined };

/** Whether the provider answers as far as can be seen without a person; the reason where it does not. */
export async function lookAt(services: ExternalDeps, request: FastifyRequest, id: string): Promise<Outcome<object, string>> {
  const provider = await providerOfId(services, request, id);
  if (provider === undefined) return fail('unknown_provider');
  const unused = { state: randomSecret(), nonce: randomSecret(), verifier: randomSecret() };
  const started = await protocols[provider.kind].start(services, upstreamOf(services, request.tenant, provider), { ...wish, ...unused });
  return started.ok ? { ok: true } : fail(started.detail);
}

/** Where to send the browser. */
export async function startTrial(
  services: ExternalDeps,
  request: FastifyRequest,
  id: string,
  trial: TrialFor,
): Promise<Outcome<{ readonly location: string }, string>> {
  const provider = await providerOfId(services, request, id);
  if (provider === undefined) return fail('unknown_provider');
  const address = `identify:${addressBlock(request.clientAddress)}`;
  await enforceRateLimit(services.rateLimiter, request.tenant, 'management', 'login_starts_per_ip', address);
  const leaving = { wish, transactionId: trialTransaction, keepsSession: false, trial };
  const started = await sendAway(services, request.tenant, provider, leaving);
  return started.ok ? started : fail(started.detail);
}

/** Who came back, for whoever asked; the provider is as it was then, or the trial counts for nothing. */
export async function finishTrial(
  services: ExternalDeps,
  request: FastifyRequest,
  by: TrialFor['by'],
): Promise<Outcome<{ readonly tried: Tried }, string>> {
  const { tenant } = request;
  const taken = await takeKeptAnswer(services, request, trialTransaction);
  if (!taken.ok) return fail(taken.reason);
  const { provider, used, state, parameters } = taken;
  const { nonce, verifier, trial } = openSentWith(services.encryption, tenant.id, hashSecret(state), used.sealed);
  if (trial?.by !== by) return fail('of_another_session');
  if (provider.updatedAtMs > used.created_at) return fail('changed_meanwhile');
  const answer = { parameters, state, nonce, verifier };
  const found = await protocols[provider.kind].identify(services, upstreamOf(services, tenant, provider), answer);
  if (!found.ok) return fail(found.detail);
  const { subject, email, emailCounts, acr, create, always } = await mapInbound(services, request, tenant, provider, found);
  const who = { subject, email, emailCounts, acr, claims: found.claims, create, always };
  return { ok: true, tried: { providerId: provider.id, alias: provider.alias, startedAtMs: used.created_at, ...who } };
}
