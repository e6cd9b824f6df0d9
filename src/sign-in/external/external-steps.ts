// Sign-in with another provider (design 14, 2): the step that sends somebody there. Their return is in external-return.ts. Every failure
// is one answer; the reason goes to the audit record.
import type { FastifyRequest } from 'fastify';
import type { PinDeps } from '../../approvals/mailed/pin.ts';
import { reject } from '../../contract/contract-error.ts';
import { externalLoginSeconds, identifierCharsMax, providerAliasCharsMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { TransactionId } from '../../domain/ids.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { TryCheck } from '../../domain/sign-in/sign-in-try.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { protocols } from '../../federation/protocols.ts';
import type { Failure, Outgoing, Upstream } from '../../federation/upstream.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { badField, readField, readOptionalField } from '../../http/page-request.ts';
import type { Parts } from '../../http/services.ts';
import { randomSecret } from '../../platform/random.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { findProviderByAlias } from '../../storage/registry/identity-providers.ts';
import { insertExternalLogin } from '../../storage/sign-in/external-logins.ts';
import { trimTries } from '../../storage/sign-in/kept-tries.ts';
import { openSecret } from '../../tokens/kind-secret.ts';
import { type SentWith, sealSentWith } from '../../tokens/provider-secret.ts';
import { samlKeysOf } from '../../tokens/saml-keys.ts';
import { conflict, isOpen } from '../login-step.ts';
import type { LoginNow } from '../login-view.ts';
import { note, noteAlone } from '../noted-try.ts';

export type ExternalDeps = PinDeps & Parts<'outbound' | 'rateLimiter'>;

const flagCharsMax = 10;

/** POST /login/{tx}/external: where to send the browser. */
export async function startExternal(
  services: ExternalDeps,
  request: FastifyRequest,
  login: LoginNow,
): Promise<{ readonly location: string }> {
  const { tenant } = login;
  const alias = readField(request, 'alias', providerAliasCharsMax);
  const typed = readOptionalField(request, 'identifier', identifierCharsMax);
  if (!isOpen(login)) throw conflict(login, 'identify');
  const isShown = login.providers.some((one) => one.alias === alias);
  const provider = isShown ? await findProvider(services, tenant, alias) : undefined;
  if (provider === undefined) throw badField('alias', 'unknown', 'one of the providers shown');
  await enforceRateLimit(
    services.rateLimiter,
    tenant,
    'management',
    'login_starts_per_ip',
    `identify:${addressBlock(request.clientAddress)}`,
  );
  return leaveFor(services, request, login, { provider, identifier: typed });
}

export interface Destination {
  readonly provider: IdentityProvider;
  /** As typed, for the provider to prefill. */
  readonly identifier: string | undefined;
}

/** Writes down that somebody leaves for a provider; gives where the browser goes. @throws login.external_refused, login.external_unavailable */
export async function leaveFor(
  services: ExternalDeps,
  request: FastifyRequest,
  login: LoginNow,
  { provider, identifier }: Destination,
): Promise<{ readonly location: string }> {
  const { tenant, row } = login;
  const wish = {
    maxAgeSeconds: signsInAgain(row) ? 0 : (row.max_age ?? undefined),
    signInAgain: signsInAgain(row),
    loginHint: identifier ?? row.login_hint ?? undefined,
    uiLocales: row.ui_locales ?? undefined,
  };
  const keepsSession = readOptionalField(request, 'not_my_computer', flagCharsMax) === undefined;
  const sent = await sendAway(services, tenant, provider, { wish, transactionId: row.id, keepsSession });
  if (!sent.ok) throw await refuse(services, request, login, provider, sent);
  await noteAlone(services, request, login, { type: 'login.started', detail: provider.alias });
  return sent;
}

/** Whether a sign-in that is there already will not do. */
export const signsInAgain = ({ prompt }: LoginNow['row']): boolean => prompt?.split(' ').includes('login') === true;

interface Leaving extends Pick<SentWith, 'keepsSession' | 'link' | 'trial'> {
  readonly wish: Pick<Outgoing, 'maxAgeSeconds' | 'signInAgain' | 'loginHint' | 'uiLocales'>;
  readonly transactionId: TransactionId;
}

/** Makes state, nonce and verifier and keeps them for the answer. */
export async function sendAway(
  services: ExternalDeps,
  tenant: Tenant,
  provider: IdentityProvider,
  { wish, transactionId, ...sentWith }: Leaving,
): Promise<{ readonly ok: true; readonly location: string } | Failure> {
  const [state, nonce, verifier] = [randomSecret(), randomSecret(), randomSecret()];
  const upstream = upstreamOf(services, tenant, provider);
  const started = await protocols[provider.kind].start(services, upstream, { ...wish, state, nonce, verifier });
  if (!started.ok) return started;
  const stateHash = hashSecret(state);
  const sealed = sealSentWith(services.encryption, tenant.id, stateHash, { nonce, verifier, ...sentWith });
  const row = { state_hash: stateHash, provider_id: provider.id, transaction_id: transactionId, sealed };
  await services.database.write(tenant.id, (queries) => insertExternalLogin(queries, tenant.id, row, externalLoginSeconds));
  return started;
}

/** The provider of an alias, where it is enabled. */
export async function findProvider(services: Parts<'cache'>, tenant: Tenant, alias: string): Promise<IdentityProvider | undefined> {
  const provider = await findProviderByAlias(services.cache, tenant, alias);
  return provider?.enabled === true ? provider : undefined;
}

/** A provider as its protocol is spoken. */
export function upstreamOf(services: Parts<'cache' | 'clock' | 'encryption'>, tenant: Tenant, provider: IdentityProvider): Upstream {
  const { encryption } = services;
  const { clientSecret: sealed } = provider;
  return {
    tenant: tenant.id,
    provider,
    clientSecret:
      sealed === undefined
        ? undefined
        : openSecret(encryption, { table: 'identity_providers', tenant: tenant.id, id: provider.id }, sealed),
    callbackUri: `${tenant.baseUrl}/login/callback/${provider.alias}`,
    samlKeys: () => samlKeysOf(services, tenant),
  };
}

/** Why a provider's person is refused here, where that has a name of its own. */
const checks: Readonly<Record<string, TryCheck>> = { inactive: 'user_suspended', unknown_person: 'unknown_person' };

/** Writes the records of a sign-in that failed there or here, and makes the one answer. */
export async function refuse(
  services: Parts<'clock' | 'database'>,
  request: FastifyRequest,
  login: LoginNow,
  provider: IdentityProvider,
  { reason, detail }: Failure,
): Promise<Error> {
  const { tenant, row } = login;
  const check =
    reason !== 'refused'
      ? 'provider_does_not_answer'
      : ((Object.hasOwn(checks, detail) ? checks[detail] : undefined) ?? 'provider_refused');
  const grown = await services.database.write(tenant.id, async (queries) => {
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'external_login.failed',
      requestId: request.id,
      target: `login:${row.id}`,
      reason: detail,
      data: { provider: provider.alias, ip: request.clientAddress },
    });
    return note(queries, request, login, { type: 'login.refused', check, detail: `${provider.alias}: ${detail}` });
  });
  await trimTries(services.database, tenant.id, grown);
  return reject(reason === 'refused' ? 'login.external_refused' : 'login.external_unavailable', {
    reason: detail,
    expected: provider.alias,
  });
}
