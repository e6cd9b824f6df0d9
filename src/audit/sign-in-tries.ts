// Tries to sign in as the Management API, the console and the command line show them: each with its lines and its reason in words.
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findTryOfRequest, listLines, type SignInLine, type SignInTry } from '../storage/sign-in/sign-in-tries.ts';
import { checkSays, typeSays } from './sign-in-words.ts';

export type TryJson = Readonly<Record<string, unknown>>;

/** Tries with their lines. */
export async function triesToJson(queries: Queries, tenant: TenantId, tries: readonly SignInTry[]): Promise<readonly TryJson[]> {
  const lines = Map.groupBy(
    await listLines(
      queries,
      tenant,
      tries.map(({ id }) => id),
    ),
    (line) => line.try_id,
  );
  return tries.map((one) => tryToJson(one, lines.get(one.id) ?? []));
}

/** The try a request belongs to; undefined when it belongs to none. */
export async function tryOfRequest(queries: Queries, tenant: TenantId, requestId: string): Promise<TryJson | undefined> {
  const found = await findTryOfRequest(queries, tenant, requestId);
  return found === undefined ? undefined : (await triesToJson(queries, tenant, [found]))[0];
}

function tryToJson(one: SignInTry, lines: readonly SignInLine[]): TryJson {
  const last = lines.findLast(({ type, failed_check: check }) => type === one.type && check === one.failed_check);
  const reason = checkSays(one.failed_check);
  return {
    id: one.id,
    started_at: new Date(one.started_at).toISOString(),
    updated_at: new Date(one.updated_at).toISOString(),
    user: one.user_id === '' ? null : one.user_id,
    typed: one.typed,
    application: one.application,
    ip: one.ip,
    user_agent: one.user_agent,
    type: one.type,
    check: one.failed_check,
    says: says(one.type, one.failed_check, last?.detail ?? null),
    advice: reason?.advice ?? null,
    request_id: one.request_id,
    lines: lines.map((line) => ({
      at: new Date(line.at).toISOString(),
      type: line.type,
      check: line.failed_check,
      detail: line.detail,
      says: says(line.type, line.failed_check, line.detail),
      request_id: line.request_id,
    })),
  };
}

/** What happened, and why it did not go on. */
function says(type: string, check: string | null, detail: string | null): string {
  const what = typeSays(type, check, detail);
  const reason = checkSays(check);
  return reason === undefined || check === 'mail_not_delivered' ? `${what}.` : `${what}: ${reason.says}.`;
}
