// Asks the hooks of tenants (design 16, 3): one signed POST as Standard Webhooks have it, within the deadline, through the guarded
// way out. A hook that does not answer as it must has failed; what then is the hook's own setting. Who asks turns a refusal into
// the row of its surface; what passes in spite of a failure is audited here.
import { hookAnswerBytesMax } from '../contract/limits.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { type Hook, type HookAnswer, type HookClaims, type HookPoint, readHookAnswer } from '../domain/extending/hook.ts';
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Counters } from '../platform/metrics.ts';
import type { Outbound } from '../platform/net/outbound.ts';
import { uuidV7 } from '../platform/random.ts';
import { createTokenBuckets } from '../platform/token-buckets.ts';
import type { Database } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { openSecret } from '../tokens/kind-secret.ts';
import { createBreaker } from './breaker.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Question {
  readonly tenant: TenantId;
  readonly hook: Hook;
  readonly requestId: string | undefined;
  /** What it is about, as the hook reads it. */
  readonly data: Json;
  /** Whom the audit record of a failure names. */
  readonly target: string;
}

export type HookVerdict =
  | { readonly ok: true; readonly claims: HookClaims | undefined }
  | { readonly ok: false; readonly reason: 'denied'; readonly hook: string; readonly text: string }
  | {
      readonly ok: false;
      readonly reason: 'failed';
      readonly hook: string;
      /** What was wrong, as audit records name it. */
      readonly text: string;
      readonly retryAfterSeconds: number;
    };

/** What came of a call that decides nothing. */
type HookTrial = Outcome<{ readonly answer: HookAnswer | undefined }, string> & { readonly milliseconds: number };

export interface Hooks {
  /** Asks before its deadline. A failure of a hook with `on_failure: continue` is `ok`. */
  readonly ask: (question: Question) => Promise<HookVerdict>;
  /** Calls it whatever the breaker says, and leaves no trace. */
  readonly try: (question: Question) => Promise<HookTrial>;
}

/** What has the hooks of a server. */
export interface HookCalls {
  readonly hooks: Hooks;
}

interface HookDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly outbound: Outbound;
  readonly counters: Counters | undefined;
}

/** Records of failures that passed, a hook: so many at once, then one in so many milliseconds; metrics count them all. */
const recordsBurst = 100;
const recordsRefillMs = 100;

export function createHooks(deps: HookDeps): Hooks {
  const breaker = createBreaker(deps.clock);
  const records = createTokenBuckets({ burst: recordsBurst, refillMs: recordsRefillMs, keysMax: 10_000 });
  const record = async ({ tenant, hook, requestId, target }: Question, reason: string): Promise<void> => {
    const nowMs = deps.clock.nowMs();
    if (records.take(`${tenant} ${hook.id}`, nowMs) > 0) return;
    const data = { hook: hook.id, point: hook.point, on_failure: hook.onFailure };
    await deps.database.write(tenant, (queries) =>
      insertAuditEvent(queries, tenant, nowMs, { type: 'hook.failed', requestId, actor: 'system', target, reason, data }),
    );
  };
  return {
    ask: async (question) => {
      const { tenant, hook } = question;
      const key = `${tenant} ${hook.id} ${hook.updatedAtMs}`;
      const waitMs = breaker.waitMs(key);
      const startedMs = performance.now();
      const called = waitMs > 0 ? fail('breaker_open') : await post(deps, question, hook.point);
      // Whoever found no turn in the tenant's share has learnt nothing of the hook.
      if (called.ok) breaker.succeeded(key);
      else if (waitMs === 0 && called.reason !== 'busy') breaker.failed(key);
      deps.counters?.countHook(hook.point, resultOf(called), (performance.now() - startedMs) / 1000);
      if (called.ok) return verdictOf(hook, called.answer);
      if (hook.onFailure === 'refuse')
        return { ...fail('failed'), hook: hook.id, text: called.reason, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
      await record(question, called.reason);
      return { ok: true, claims: undefined };
    },
    try: async (question) => {
      const startedMs = performance.now();
      const called = await post(deps, question, 'test');
      return { ...called, milliseconds: Math.round(performance.now() - startedMs) };
    },
  };
}

function verdictOf(hook: Hook, answer: HookAnswer | undefined): HookVerdict {
  if (answer === undefined) return { ok: true, claims: undefined };
  return 'deny' in answer ? { ...fail('denied'), hook: hook.id, text: answer.deny.reason } : { ok: true, claims: answer.claims };
}

function resultOf(called: Outcome<{ readonly answer: HookAnswer | undefined }, string>): 'silent' | 'claims' | 'denied' | 'failed' {
  if (!called.ok) return 'failed';
  if (called.answer === undefined) return 'silent';
  return 'deny' in called.answer ? 'denied' : 'claims';
}

async function post(
  { clock, encryption, outbound }: HookDeps,
  { tenant, hook, requestId, data }: Question,
  name: HookPoint | 'test',
): Promise<Outcome<{ readonly answer: HookAnswer | undefined }, string>> {
  const nowMs = clock.nowMs();
  const id = `msg_${uuidV7(nowMs)}`;
  const body = JSON.stringify({
    type: `hook.${name}`,
    timestamp: new Date(nowMs).toISOString(),
    data: { request_id: requestId ?? null, ...data },
  });
  const secrets = [hook.secret, (hook.previousUntilMs ?? 0) > nowMs ? hook.previousSecret : undefined]
    .filter((sealed) => sealed !== undefined)
    .map((sealed) => openSecret(encryption, { table: 'hooks', tenant, id: hook.id }, sealed));
  const answer = await outbound.fetch({
    url: hook.url,
    share: tenant,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await signatureOf(secrets, id, nowMs, body)) },
    body,
    timeoutMs: hook.deadlineMs,
    responseBytesMax: hookAnswerBytesMax,
    keepsConnection: true,
  });
  return answer.ok ? readHookAnswer(answer.status, answer.body) : fail(answer.reason);
}

/** The headers of Standard Webhooks: both secrets sign while a rotation is under way. */
async function signatureOf(secrets: readonly string[], id: string, nowMs: number, body: string): Promise<Readonly<Record<string, string>>> {
  const { Webhook } = await import('standardwebhooks');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(nowMs), body)).join(' '),
  };
}
