// Talks to the SCIM service of a connector (RFC 7644): signs in, keeps to its rate, and says of each answer what it means for who asked. What
// the target can do is read from its ServiceProviderConfig once an hour. Nothing here is repeated.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectorAnswerBytesMax } from '../contract/limits.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Connector } from '../domain/extending/connector.ts';
import { withoutCredentials } from '../domain/extending/told-answer.ts';
import type { TenantId } from '../domain/ids.ts';
import { machineGrantType } from '../domain/oidc/grant-types.ts';
import type { Outbound, OutboundResult } from '../platform/net/outbound.ts';
import { openSecret } from '../tokens/kind-secret.ts';

export type Json = Readonly<Record<string, unknown>>;

/** `unauthorized` and `throttled` concern everybody; `conflict` waits for a person; `failed` may be otherwise next time. */
export type FaultKind = 'unauthorized' | 'throttled' | 'conflict' | 'failed';

/** Why a target did not do what it was asked. */
export class TargetFault extends Error {
  readonly kind: FaultKind;
  readonly reason: string;
  readonly request: string | undefined;
  readonly answer: string | undefined;
  readonly retryAfterMs: number;
  constructor(
    kind: FaultKind,
    reason: string,
    told: { readonly request?: string; readonly answer?: string; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(reason);
    this.name = 'TargetFault';
    this.kind = kind;
    this.reason = reason;
    this.request = told.request;
    this.answer = told.answer;
    this.retryAfterMs = told.retryAfterMs ?? throttledMs;
  }
}

interface TargetAnswer {
  readonly status: number;
  readonly json: Json;
}

export interface Target {
  /** Gives a 2xx, or 404 where the caller takes it. @throws TargetFault */
  readonly ask: (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<TargetAnswer>;
  /** @throws TargetFault */
  readonly canPatch: () => Promise<boolean>;
}

export interface TargetDeps {
  readonly outbound: Outbound;
  readonly encryption: KeyEncryption;
}

/** What is remembered of a connector between its requests, by this process. */
interface Remembered {
  nextAt: number;
  canPatch: { readonly is: boolean; readonly until: number } | undefined;
  token: Promise<Token> | undefined;
  /** Of its configuration. */
  readonly version: number;
}

interface Token {
  readonly value: string;
  readonly until: number;
}

export type Memory = Map<string, Remembered>;

/** A service that keeps a group as one document takes seconds for each part of a large one. */
const timeoutMs = 30_000;
const responseBytesMax = 8 * 1024 * 1024;
const throttledMs = 5000;
const retryAfterMsMax = 24 * 3_600_000;
const configurationMs = 3_600_000;
const tokenLeewayMs = 30_000;

/** @param signal ends waiting and requests, told as failed */
export function openTarget(deps: TargetDeps, memory: Memory, tenant: TenantId, connector: Connector, signal: AbortSignal): Target {
  const known = rememberedOf(memory, connector);
  const of = { table: 'connectors', tenant, id: connector.id };
  const secret = connector.secret === undefined ? '' : openSecret(deps.encryption, of, connector.secret);
  const turn = async (): Promise<void> => {
    const now = performance.now();
    const at = Math.max(now, known.nextAt);
    known.nextAt = at + 1000 / connector.rate;
    if (at > now) await sleep(at - now, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new TargetFault('failed', 'stopped');
  };
  const send = async (
    method: Parameters<Target['ask']>[0],
    path: string,
    body: object | undefined,
    token: string,
  ): Promise<TargetAnswer> => {
    await turn();
    const answer = await deps.outbound.fetch({
      url: connector.baseUrl.replace(/\/+$/, '') + path,
      share: tenant,
      method,
      headers: {
        accept: 'application/scim+json',
        authorization: token,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...{ timeoutMs, responseBytesMax, signal, keepsConnection: true },
    });
    return read(answer, `${method} ${path}`, [secret, token.slice(token.indexOf(' ') + 1)]);
  };
  const authorization = async (): Promise<string> => {
    const { auth } = connector;
    if (connector.secret === undefined) throw new TargetFault('unauthorized', 'no_secret');
    if (auth.type === 'bearer') return `Bearer ${secret}`;
    return auth.type === 'basic'
      ? basic(auth.username ?? '', secret)
      : `Bearer ${await tokenOf(deps.outbound, tenant, connector, { secret, known })}`;
  };
  const ask: Target['ask'] = async (method, path, body) => {
    const token = await authorization();
    try {
      return await send(method, path, body, token);
    } catch (error) {
      // A token may have been revoked before its time, and somebody else may have seen that first.
      if (!(error instanceof TargetFault) || error.reason !== 'status_401' || known.token === undefined) throw error;
      if (`Bearer ${(await known.token).value}` === token) known.token = undefined;
      return send(method, path, body, await authorization());
    }
  };
  return {
    ask,
    canPatch: async () => {
      if (known.canPatch === undefined || known.canPatch.until < performance.now()) {
        const { json } = await ask('GET', '/ServiceProviderConfig');
        known.canPatch = { is: (json['patch'] as Json | undefined)?.['supported'] === true, until: performance.now() + configurationMs };
      }
      return known.canPatch.is;
    },
  };
}

function rememberedOf(memory: Memory, { id, updatedAtMs: version }: Connector): Remembered {
  const before = memory.get(id);
  if (before?.version === version) return before;
  const fresh: Remembered = { nextAt: before?.nextAt ?? 0, canPatch: undefined, token: undefined, version };
  memory.set(id, fresh);
  return fresh;
}

function kindOf(status: number): FaultKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429 || status === 503) return 'throttled';
  return status === 409 ? 'conflict' : 'failed';
}

const basic = (name: string, secret: string): string => `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;

/** The token in force, asked for once for all who wait. */
async function tokenOf(
  outbound: Outbound,
  tenant: TenantId,
  { auth }: Connector,
  { secret, known }: { readonly secret: string; readonly known: Remembered },
): Promise<string> {
  const held = await known.token?.catch(() => undefined);
  if (held !== undefined && held.until > performance.now()) return held.value;
  const asked = fetchToken(outbound, tenant, auth, secret);
  known.token = asked;
  asked.catch(() => {
    if (known.token === asked) known.token = undefined;
  });
  return (await asked).value;
}

/** @throws TargetFault for what is neither 2xx nor 404 */
function read(answer: OutboundResult, request: string, told: readonly string[]): TargetAnswer {
  if (!answer.ok) throw new TargetFault('failed', answer.reason, { request });
  const { status } = answer;
  if (status === 404) return { status, json: {} };
  if (status >= 200 && status < 300) return { status, json: parsed(answer.body, request, told) };
  throw new TargetFault(kindOf(status), `status_${status}`, {
    request,
    answer: beginningOf(answer.body, told),
    retryAfterMs: retryAfter(answer.headers['retry-after']),
  });
}

/** RFC 6749 4.4 with client_secret_basic. */
async function fetchToken(outbound: Outbound, tenant: TenantId, auth: Connector['auth'], secret: string): Promise<Token> {
  const url = auth.token_url ?? '';
  const request = `POST ${url}`;
  const form = new URLSearchParams({ grant_type: machineGrantType, ...(auth.scope !== undefined && { scope: auth.scope }) });
  const authorization = basic(encodeURIComponent(auth.client_id ?? ''), encodeURIComponent(secret));
  const told = [secret, authorization.slice('Basic '.length)];
  const answer = await outbound.fetch({
    ...{ url, share: tenant, method: 'POST', timeoutMs, responseBytesMax: 64 * 1024 },
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization,
    },
    body: form.toString(),
  });
  if (!answer.ok) throw new TargetFault('failed', answer.reason, { request });
  const { status } = answer;
  if (status === 400 || status === 401)
    throw new TargetFault('unauthorized', `status_${status}`, { request, answer: beginningOf(answer.body, told) });
  if (status !== 200)
    throw new TargetFault(kindOf(status), `status_${status}`, { request, retryAfterMs: retryAfter(answer.headers['retry-after']) });
  const { access_token: value, expires_in: seconds } = parsed(answer.body, request, told);
  if (typeof value !== 'string' || value === '') throw new TargetFault('failed', 'no_token', { request });
  const lifetimeMs = typeof seconds === 'number' ? seconds * 1000 : 300_000;
  return { value, until: performance.now() + Math.max(lifetimeMs - tokenLeewayMs, lifetimeMs / 2) };
}

function parsed(body: string, request: string, told: readonly string[]): Json {
  if (body.trim() === '') return {};
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
  } catch {}
  throw new TargetFault('failed', 'not_json', { request, answer: beginningOf(body, told) });
}

/** RFC 9110 10.2.3: seconds or a date; a day at most. */
function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, retryAfterMsMax) : undefined;
}

/** As text that both databases keep. */
const beginningOf = (body: string, told: readonly string[]): string =>
  Buffer.from(withoutCredentials(body, told)).subarray(0, connectorAnswerBytesMax).toString().replaceAll('\0', '\u{fffd}');
