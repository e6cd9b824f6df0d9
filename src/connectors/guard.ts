// Two things that stop a connector, and tell the administrators: a run that would end many accounts waits for somebody's word, and a target that
// refuses us, or most of what it is sent, is left alone but for a probe an hour.
import { mailAdministrators } from '../approvals/mailed/administrators-mail.ts';
import { areManyEndings } from '../domain/extending/many-endings.ts';
import { mails } from '../mails/registry.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type ConnectorLink, countLeaving, hasDueLinks, releaseLeaving } from '../storage/records/connector-links.ts';
import {
  changeConnectorState,
  endQuarantine,
  findConnectorState,
  type QuarantineReason,
  quarantine,
} from '../storage/registry/extending/connectors.ts';
import type { Work } from './parts.ts';
import { TargetFault } from './target.ts';

type Guarded = Pick<Work, 'parts' | 'tenant' | 'connector' | 'whose'>;

const probeEveryMs = 3_600_000;
/** What runs that follow one another end in this time counts together. */
const runMs = 3_600_000;

/** Whether an account that ended is still counted: until then its link is kept, though nothing is at the target any more. */
export const isCounted = ({ clock }: Guarded['parts'], { left_at: leftMs }: ConnectorLink): boolean =>
  leftMs !== null && leftMs > clock.nowMs() - runMs;

/** Lets accounts end that wait, or asks the administrators when they are many. True when some may end now. */
export async function judgeEndings(work: Guarded): Promise<boolean> {
  const { parts, tenant, connector, whose } = work;
  return parts.database.write(tenant.id, async (queries) => {
    const state = await findConnectorState(queries, tenant.id, connector.id);
    if (state === undefined || state.sync_after !== null || (await hasDueLinks(queries, whose, 'user'))) return false;
    const nowMs = parts.clock.nowMs();
    const { held, ended, linked } = await countLeaving(queries, whose, Math.max(state.approved_at, nowMs - runMs));
    if (held === 0) {
      if (state.approval_since !== null) await changeConnectorState(queries, tenant.id, connector.id, { approval_since: null });
      return false;
    }
    if (state.approval_since !== null) return false;
    const together = held + ended;
    if (!areManyEndings(together, linked + ended)) return (await releaseLeaving(queries, whose)) > 0;
    await changeConnectorState(queries, tenant.id, connector.id, { approval_since: nowMs });
    await record(work, queries, { type: 'connector.approval_needed', data: { users: held } });
    await tell(work, queries, 'approval');
    return false;
  });
}

/** Lets a connector rest, and mails the administrators, once. */
export async function stop(work: Guarded, reason: QuarantineReason): Promise<void> {
  const { parts, tenant, connector } = work;
  await parts.database.write(tenant.id, async (queries) => {
    if (!(await quarantine(queries, tenant.id, connector.id, reason, probeEveryMs))) return;
    await record(work, queries, { type: 'connector.quarantined', reason, data: {} });
    await tell(work, queries, reason);
  });
}

/** Asks a target that refused us whether it takes us again; true when it does. */
export async function probe(work: Work): Promise<boolean> {
  const { parts, tenant, connector, target } = work;
  const nowMs = parts.clock.nowMs();
  await parts.database.write(tenant.id, (queries) =>
    changeConnectorState(queries, tenant.id, connector.id, { probe_at: nowMs + probeEveryMs }),
  );
  try {
    const { status } = await target.ask('GET', '/Users?startIndex=1&count=1');
    if (status === 404) return false;
  } catch (error) {
    if (error instanceof TargetFault) return false;
    throw error;
  }
  return parts.database.write(tenant.id, async (queries) => {
    if (!(await endQuarantine(queries, tenant.id, connector.id))) return false;
    await record(work, queries, { type: 'connector.resumed', data: {} });
    return true;
  });
}

async function record(
  { parts, tenant, connector }: Guarded,
  queries: Queries,
  event:
    | { readonly type: 'connector.approval_needed'; readonly data: { readonly users: number } }
    | { readonly type: 'connector.quarantined'; readonly reason: string; readonly data: object }
    | { readonly type: 'connector.resumed'; readonly data: object },
): Promise<void> {
  const facts = { ...event, actor: 'system', target: `connector:${connector.id}` };
  await insertAuditEvent(queries, tenant.id, parts.clock.nowMs(), facts as Parameters<typeof insertAuditEvent>[3]); // a row of the catalogue each
}

const tell = ({ parts, tenant, connector }: Guarded, queries: Queries, reason: QuarantineReason | 'approval'): Promise<void> =>
  mailAdministrators(queries, parts, tenant, (to, language) =>
    mails.stopped.make({ kind: 'connector', tenantName: tenant.name, language, name: connector.name, reason }, to),
  );
