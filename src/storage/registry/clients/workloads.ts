// Which issuers a tenant knows its programs by, and which programs they are: configuration, from the cache. Whose workload a token is, is
// found by hashes of its issuer and subject, which may be longer than an index takes.
import { workloadIssuersMax } from '../../../contract/limits.ts';
import { type Workload, type WorkloadIssuer, workloadIssuerKind } from '../../../domain/client/workload.ts';
import type { ClientId, TenantId } from '../../../domain/ids.ts';
import { type Capability, capabilitiesIn } from '../../../domain/people/capabilities.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { hashOf, rowsOf } from '../kind-rows.ts';

/** Beside the workloads of a client, by which it is found. */
export interface ClientWorkloadTable {
  tenant_id: TenantId;
  client_id: ClientId;
  issuer_hash: string;
  /** Empty for those that name none. */
  subject_hash: string;
}

/** A client that is enabled, and what it is. */
interface WorkloadClient {
  readonly clientId: ClientId;
  readonly workloads: readonly Workload[];
}

const issuers = rowsOf(workloadIssuerKind);
const subjectHashOf = (subject: string | undefined): string => (subject === undefined ? '' : hashOf(subject));

/** The issuers of a tenant that are enabled, by the iss of their tokens. */
type Issuers = ReadonlyMap<string, WorkloadIssuer>;
const issuersKey = 'workload-issuers';

/** What is known without waiting. */
export const peekWorkloadIssuers = (cache: ConfigCache, tenant: TenantId): Issuers | undefined =>
  cache.peek<Issuers>(tenant, issuersKey)?.value;

export async function listWorkloadIssuers(cache: ConfigCache, tenant: TenantId): Promise<Issuers> {
  return cache.get(tenant, issuersKey, async (queries) => {
    const all = await issuers.page(queries, tenant, { after: '', limit: workloadIssuersMax });
    return new Map(all.filter(({ enabled }) => enabled).map((one) => [one.issuer, one]));
  });
}

/**
 * The clients that have a workload of this issuer and subject; without one, those whose workloads name no subject, from the cache. Of a
 * public platform strangers have tokens of any subject, which must not fill it.
 */
export async function listWorkloadClients(
  cache: ConfigCache,
  tenant: TenantId,
  issuer: string,
  subject: string | undefined,
): Promise<readonly WorkloadClient[]> {
  const [issuerHash, subjectHash] = [hashOf(issuer), subjectHashOf(subject)];
  const load = async (queries: Queries): Promise<readonly WorkloadClient[]> => {
    const rows = await queries
      .selectFrom('client_workloads as w')
      .innerJoin('clients as c', (on) => on.onRef('c.tenant_id', '=', 'w.tenant_id').onRef('c.client_id', '=', 'w.client_id'))
      .select(['c.client_id', 'c.workloads'])
      .where('w.tenant_id', '=', tenant)
      .where('w.issuer_hash', '=', issuerHash)
      .where('w.subject_hash', '=', subjectHash)
      .where('c.enabled', '=', 1)
      .execute();
    return rows.map(({ client_id: clientId, workloads }) => ({ clientId, workloads: JSON.parse(workloads) as readonly Workload[] })); // stored so
  };
  return subject === undefined ? cache.get(tenant, `workloads:${issuerHash}`, load) : cache.read(tenant, load);
}

/** The capabilities of the clients that are known by tokens of this issuer, whether enabled or not. */
export async function capabilitiesByIssuer(queries: Queries, tenant: TenantId, issuer: string): Promise<readonly Capability[]> {
  const rows = await queries
    .selectFrom('client_workloads as w')
    .innerJoin('clients as c', (on) => on.onRef('c.tenant_id', '=', 'w.tenant_id').onRef('c.client_id', '=', 'w.client_id'))
    .select('c.scopes')
    .distinct()
    .where('w.tenant_id', '=', tenant)
    .where('w.issuer_hash', '=', hashOf(issuer))
    .execute();
  return [...new Set(rows.flatMap(({ scopes }) => capabilitiesIn(JSON.parse(scopes) as readonly string[])))];
}

/** Writes by what a client is found; `before`: it may have been found by others. */
export async function writeWorkloads(
  queries: Queries,
  tenant: TenantId,
  { clientId, workloads }: WorkloadClient,
  before: boolean,
): Promise<void> {
  if (before) await queries.deleteFrom('client_workloads').where('tenant_id', '=', tenant).where('client_id', '=', clientId).execute();
  if (workloads.length === 0) return;
  const rows = workloads.map(({ issuer, subject }) => ({
    tenant_id: tenant,
    client_id: clientId,
    issuer_hash: hashOf(issuer),
    subject_hash: subjectHashOf(subject),
  }));
  await queries
    .insertInto('client_workloads')
    .values(rows)
    .onConflict((on) => on.doNothing())
    .execute();
}
