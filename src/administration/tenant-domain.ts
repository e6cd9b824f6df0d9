// A tenant's own domain, as its owner sets it (design 13, 3): asked for, shown to be the tenant's by a TXT record, looked at by https, and
// then in force. Operators set domains of other tenants than
// the root without all this (tenants.ts).
import { readChange } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { isPublicHost, tenantFields } from '../domain/tenant/tenant.ts';
import { domainRecords } from '../domain/tenant/tenant-domain.ts';
import type { Outbound, OutboundFailure } from '../platform/net/outbound.ts';
import type { TextRecords } from '../platform/net/text-records.ts';
import type { Queries } from '../storage/engine/database.ts';
import { isUniqueViolation } from '../storage/engine/unique-violation.ts';
import {
  activatePendingDomain,
  findTenantById,
  type StoredTenant,
  setPendingDomain,
  setPendingVerified,
  updateTenant,
} from '../storage/registry/tenants.ts';
import { type Administration, type By, recordAct } from './administration.ts';

type Deps = Pick<Administration, 'cache' | 'clock' | 'database' | 'publicUrl'>;
type DomainCheckDeps = Deps & { readonly textRecords: TextRecords; readonly outbound: Pick<Outbound, 'fetch'> };

/** Asks for a domain; the one in force stays. `own`: it is where the deployment itself is. */
export async function requestDomain(
  deps: Deps,
  tenant: TenantId,
  domain: string,
  by: By,
): Promise<Outcome<{ readonly row: StoredTenant }, 'own'>> {
  if (isPublicHost(domain, deps.publicUrl)) return fail('own');
  return deps.cache.write(tenant, async (queries) => {
    const before = await present(queries, tenant);
    if (before.pending_domain === domain) return { ok: true, row: before };
    await recordAct(queries, deps, tenant, by, { type: 'domain.requested', target: `tenant:${tenant}`, data: { domain } });
    return { ok: true, row: await setPendingDomain(queries, tenant, domain) };
  });
}

interface DomainCheck {
  /** The one that was looked up; the row may name another by now. */
  readonly domain: string;
  readonly row: StoredTenant;
  readonly txt: 'found' | 'missing' | 'unanswered';
  /** `answers`: this program answers there. */
  readonly https: 'answers' | 'other' | OutboundFailure;
}

const checkTimeoutMs = 10_000;
const answerBytesMax = 1000;

/** Looks the pending domain's TXT record up and keeps what was found, and asks for /health/live there; undefined when none is pending. */
export async function checkDomain(deps: DomainCheckDeps, tenant: TenantId, by: By): Promise<DomainCheck | undefined> {
  const { pending_domain: domain } = await deps.database.read(tenant, (queries) => present(queries, tenant));
  if (domain === null) return undefined;
  const [{ name, value }] = domainRecords(tenant, domain, deps.publicUrl);
  const [texts, https] = await Promise.all([deps.textRecords.find(name), askThere(deps.outbound, tenant, domain)]);
  const txt = texts === undefined ? 'unanswered' : texts.includes(value) ? 'found' : 'missing';
  const row = await deps.cache.write(tenant, async (queries) => {
    const isVerified = txt === 'found';
    const noted = txt === 'unanswered' ? undefined : await setPendingVerified(queries, tenant, { domain, isVerified });
    if (noted === undefined) return present(queries, tenant);
    const type = isVerified ? 'domain.verified' : 'domain.lapsed';
    await recordAct(queries, deps, tenant, by, { type, target: `tenant:${tenant}`, data: { domain } });
    return noted;
  });
  return { domain, row, txt, https };
}

async function askThere(outbound: Pick<Outbound, 'fetch'>, tenant: TenantId, domain: string): Promise<DomainCheck['https']> {
  const url = `${domain}/health/live`;
  const answer = await outbound.fetch({ url, share: tenant, method: 'GET', timeoutMs: checkTimeoutMs, responseBytesMax: answerBytesMax });
  if (!answer.ok) return answer.reason;
  return answer.status === 200 && answer.body === JSON.stringify({ status: 'ok' }) ? 'answers' : 'other';
}

/** Puts the pending domain in force if its TXT record is there now: base URL and issuer change with it. */
export async function activateDomain(
  deps: DomainCheckDeps,
  tenant: TenantId,
  by: By,
): Promise<Outcome<{ readonly row: StoredTenant }, 'none' | 'unverified' | 'taken'>> {
  const checked = await checkDomain(deps, tenant, by);
  if (checked === undefined) return fail('none');
  const { domain, txt } = checked;
  if (txt !== 'found') return fail('unverified');
  try {
    return await deps.cache.write(tenant, async (queries) => {
      const row = await activatePendingDomain(queries, tenant, domain);
      if (row === undefined) return fail('unverified'); // changed meanwhile
      await recordAct(queries, deps, tenant, by, { type: 'tenant.updated', target: `tenant:${tenant}`, data: { domain } });
      return { ok: true, row };
    });
  } catch (error) {
    if (isUniqueViolation(error)) return fail('taken');
    throw error;
  }
}

/** Gives up the domain that is asked for, else the one in force; false when there is neither. */
export async function withdrawDomain(deps: Deps, tenant: TenantId, by: By): Promise<boolean> {
  return deps.cache.write(tenant, async (queries) => {
    const { pending_domain: pending, domain } = await present(queries, tenant);
    const target = `tenant:${tenant}` as const;
    if (pending !== null) {
      await setPendingDomain(queries, tenant, null);
      await recordAct(queries, deps, tenant, by, { type: 'domain.withdrawn', target, data: { domain: pending } });
    } else if (domain !== null) {
      await updateTenant(queries, tenant, readChange(tenantFields, { domain: null }));
      await recordAct(queries, deps, tenant, by, { type: 'tenant.updated', target, data: { domain: null } });
    } else return false;
    return true;
  });
}

/** The tenant of a request, which is there. */
async function present(queries: Queries, tenant: TenantId): Promise<StoredTenant> {
  const row = await findTenantById(queries, tenant);
  if (row === undefined) throw new Error(`tenant ${tenant} is gone`);
  return row;
}
