// The return from another provider (design 14, 2). It must bring the state we gave, once and in time, to the callback of the provider it
// was given for, in the browser that holds the sign-in's cookie. An answer by form post comes from another site, without that cookie:
// it is kept, and the browser that brought it is given a key to fetch it with at the sign-in, which asks for the cookie. So whoever began a
// sign-in gets nothing from an answer that somebody else's browser brought. Every failure is one answer; reasons go to audit.
import type { FastifyRequest } from 'fastify';
import { holdsTransactionCookie } from '../../approvals/session/transaction-cookie.ts';
import { reject } from '../../contract/contract-error.ts';
import { externalStateCharsMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { TransactionId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { ageFault } from '../../domain/sign-in/external-identity.ts';
import { answersByPost, type IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { protocols } from '../../federation/protocols.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Parts } from '../../http/services.ts';
import { randomSecret } from '../../platform/random.ts';
import { findProviderByAlias, findProviderById } from '../../storage/registry/identity-providers.ts';
import {
  consumeExternalLogin,
  type ExternalLogin,
  findExternalLogin,
  keepExternalAnswer,
  linkTransaction,
  trialTransaction,
} from '../../storage/sign-in/external-logins.ts';
import { openAnswer, openSentWith, sealAnswer } from '../../tokens/provider-secret.ts';
import { rememberOpened } from '../login-request.ts';
import { conflict, isOpen, type StepAnswer } from '../login-step.ts';
import { type LoginNow, loadLogin } from '../login-view.ts';
import { pinAnswer, preparePin } from '../pin-mail.ts';
import { type ExternalDeps, refuse, signsInAgain, upstreamOf } from './external-steps.ts';
import { mapInbound, tellWithheld } from './inbound.ts';
import { type Arrival, type Settled, settleIdentity, settleOrRollBack } from './settle-identity.ts';

export interface Returned {
  readonly login: LoginNow;
  readonly answer: StepAnswer;
}

const refused = (reason: string, expected?: string): Error =>
  reject('login.external_refused', expected === undefined ? reason : { reason, expected });

/** GET /login/callback/{alias}: somebody comes back, or links an account. @throws login.external_refused, login.external_unavailable */
export async function returnFromExternal(
  services: ExternalDeps,
  request: FastifyRequest,
): Promise<Returned | { readonly location: string }> {
  const { tenant } = request;
  const { searchParams: parameters } = new URL(request.url, tenant.baseUrl);
  const state = stateIn(parameters, 'state');
  const { provider, known } = await answeredBy(services, request, state);
  const { alias } = provider;
  if (answersByPost(provider)) throw refused('answers_by_form_post', alias);
  const stateHash = hashSecret(state ?? '');
  if (known && state && isOfApp(known)) return keepAnswer(services, request, provider, { state, form: parameters.toString() });
  const login = known ? await loadLogin(services, tenant, known.transaction_id, request.headers.cookie) : undefined;
  const transaction = known ? known.transaction_id : '';
  const isBound = holdsTransactionCookie(request.headers.cookie, tenant.baseUrl, transaction, login?.row.binding_hash);
  if (login === undefined || !state) throw refused('unknown_state', alias);
  if (!isBound) throw refused('transaction_cookie', alias);
  rememberOpened(request, login);
  if (!isOpen(login)) throw conflict(login, 'identify');
  const used = await services.database.write(tenant.id, (queries) =>
    consumeExternalLogin(queries, tenant.id, stateHash, { provider: provider.id }),
  );
  if (used === undefined) throw refused('state_used_expired_or_of_another_provider', alias);
  return arrive(services, request, login, { provider, used, state, parameters });
}

/** POST /login/callback/{alias}: keeps the answer and says where the browser fetches it. @throws login.external_refused */
export async function keepFormAnswer(services: ExternalDeps, request: FastifyRequest): Promise<{ readonly location: string }> {
  const form = typeof request.body === 'string' ? request.body : '';
  const parameters = new URLSearchParams(form);
  const own = await anyProviderOf(services, request);
  const state = stateIn(parameters, own.kind === 'saml' ? 'RelayState' : 'state');
  const { provider } = await answeredBy(services, request, state);
  const { alias } = provider;
  if (!answersByPost(provider)) throw refused('answers_by_query', alias);
  if (state === undefined) throw refused('no_state', alias);
  return keepAnswer(services, request, provider, { state, form });
}

/** Keeps what came and gives the browser that brought it the key, in the address where it is fetched. */
async function keepAnswer(
  services: ExternalDeps,
  request: FastifyRequest,
  provider: IdentityProvider,
  { state, form }: { readonly state: string; readonly form: string },
): Promise<{ readonly location: string }> {
  const { tenant } = request;
  await limit(services, request, 'callback');
  const stateHash = hashSecret(state);
  const key = randomSecret();
  const kept = { answer: sealAnswer(services.encryption, tenant.id, stateHash, form), answerHash: hashSecret(key) };
  const waiting = await services.database.write(tenant.id, (queries) =>
    keepExternalAnswer(queries, tenant.id, stateHash, provider.id, kept),
  );
  if (waiting === undefined) throw refused('state_unknown_answered_expired_or_of_another_provider', provider.alias);
  const { transaction_id: id } = waiting;
  const { trial } = openSentWith(services.encryption, tenant.id, stateHash, waiting.sealed);
  const path = trial?.back ?? (id === linkTransaction ? '/account/links/return' : `/login/${id}`);
  return { location: `${tenant.baseUrl}${path}?${new URLSearchParams({ state, answer: key })}` };
}

/** GET /login/{tx}?state&answer: the browser fetches what it brought. Undefined where the address has neither. */
export async function fetchKeptAnswer(services: ExternalDeps, request: FastifyRequest, login: LoginNow): Promise<Returned | undefined> {
  const { searchParams } = new URL(request.url, login.tenant.baseUrl);
  if (!searchParams.get('state') || !searchParams.get('answer')) return undefined;
  if (!isOpen(login)) throw conflict(login, 'identify');
  const taken = await takeKeptAnswer(services, request, login.row.id);
  if (!taken.ok) throw refused(taken.reason);
  return arrive(services, request, login, taken);
}

type Refusal = 'no_answer' | 'state_of_another_sign_in' | 'answer_used_expired_or_of_another_browser' | 'provider_gone';

/** Uses up the answer that the address of the request names, for the sign-in it was kept for. */
export async function takeKeptAnswer(
  services: Parts<'cache' | 'database' | 'encryption'>,
  request: FastifyRequest,
  transactionId: TransactionId,
): Promise<Outcome<Claimed, Refusal>> {
  const { tenant } = request;
  const { searchParams } = new URL(request.url, tenant.baseUrl);
  const [state, key] = [stateIn(searchParams, 'state'), stateIn(searchParams, 'answer')];
  if (state === undefined || key === undefined) return fail('no_answer');
  const stateHash = hashSecret(state);
  const known = await services.database.read(tenant.id, (queries) => findExternalLogin(queries, tenant.id, stateHash));
  if (known?.transaction_id !== transactionId) return fail('state_of_another_sign_in');
  const used = await services.database.write(tenant.id, (queries) =>
    consumeExternalLogin(queries, tenant.id, stateHash, { answerHash: hashSecret(key) }),
  );
  if (used === undefined || used.answer === null) return fail('answer_used_expired_or_of_another_browser');
  const provider = await findProviderById(services.cache, tenant, used.provider_id);
  if (provider === undefined || !(provider.enabled || transactionId === trialTransaction)) return fail('provider_gone');
  const form = openAnswer(services.encryption, tenant.id, stateHash, used.answer);
  return { ok: true, provider, used, state, parameters: new URLSearchParams(form) };
}

export interface Claimed {
  readonly provider: IdentityProvider;
  readonly used: ExternalLogin;
  readonly state: string;
  readonly parameters: URLSearchParams;
}

/** Asks who came, and on with their sign-in. */
async function arrive(
  services: ExternalDeps,
  request: FastifyRequest,
  login: LoginNow,
  { provider, used, state, parameters }: Claimed,
): Promise<Returned> {
  const { tenant } = login;
  await limit(services, request, 'identify');
  const { nonce, verifier, keepsSession } = openSentWith(services.encryption, tenant.id, hashSecret(state), used.sealed);
  const upstream = upstreamOf(services, tenant, provider);
  const found = await protocols[provider.kind].identify(services, upstream, { parameters, state, nonce, verifier });
  if (!found.ok) throw await refuse(services, request, login, provider, found);
  const newSinceMs = signsInAgain(login.row) ? used.created_at : undefined;
  const tooOld = ageFault(found.identity, { maxAgeSeconds: login.row.max_age ?? undefined, newSinceMs }, services.clock.nowMs());
  if (tooOld !== undefined) throw await refuse(services, request, login, provider, { ok: false, reason: 'refused', detail: tooOld });
  const identity = await mapInbound(services, request, tenant, provider, found);
  const arrival = { identity, keepsSession, byPin: false, mailing: await preparePin(services, request) };
  const settled = await settle(services, request, login, arrival);
  if (!settled.ok) throw await refuse(services, request, login, provider, { ok: false, reason: 'refused', detail: settled.reason });
  if (settled.sent !== undefined) pinAnswer(settled.sent);
  return { login, answer: settled.answer };
}

async function settle(services: ExternalDeps, request: FastifyRequest, login: LoginNow, arrival: Arrival): Promise<Settled> {
  const outcome = await settleOrRollBack(services, login, (queries) => settleIdentity(queries, services, request, login, arrival));
  if (outcome === undefined) throw conflict(login, 'identify');
  if (outcome.ok) await tellWithheld(services, request, arrival.identity, outcome);
  return outcome;
}

/** Of somebody who links an account, or of somebody who tries the provider: their pages fetch it. */
const isOfApp = ({ transaction_id: id }: ExternalLogin): boolean => id === linkTransaction || id === trialTransaction;

/** The provider that an answer with this state came from, with what waits for it; one that is not enabled has no other than those of who tries it. @throws login.not_found */
async function answeredBy(
  services: Parts<'cache' | 'database'>,
  request: FastifyRequest,
  state: string | undefined,
): Promise<{ readonly provider: IdentityProvider; readonly known: ExternalLogin | undefined }> {
  const { tenant } = request;
  const provider = await anyProviderOf(services, request);
  const hash = hashSecret(state ?? '');
  const known =
    state === undefined ? undefined : await services.database.read(tenant.id, (queries) => findExternalLogin(queries, tenant.id, hash));
  if (!provider.enabled && known?.transaction_id !== trialTransaction) throw reject('login.not_found', 'unknown_provider');
  return { provider, known };
}

/** The provider of the route's alias, enabled or not. @throws login.not_found */
export async function anyProviderOf(
  services: Parts<'cache'>,
  { tenant, params }: { tenant: Tenant; params: unknown },
): Promise<IdentityProvider> {
  const { alias } = params as { alias: string }; // the route's own parameter
  const provider = await findProviderByAlias(services.cache, tenant, alias);
  if (provider === undefined) throw reject('login.not_found', 'unknown_provider');
  return provider;
}

/** A parameter that stands once and is no longer than any state of ours. */
function stateIn(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = parameters.getAll(name);
  return others.length > 0 || !value || value.length > externalStateCharsMax ? undefined : value;
}

const limit = (services: Parts<'rateLimiter'>, request: FastifyRequest, what: string): Promise<void> =>
  enforceRateLimit(
    services.rateLimiter,
    request.tenant,
    'management',
    'login_starts_per_ip',
    `${what}:${addressBlock(request.clientAddress)}`,
  );
