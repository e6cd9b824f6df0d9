// Workload identity (design 18, part 3; RFC 7523): a token that the platform of a program gave it, of an issuer the tenant has registered,
// stands for the program's secret. It may be used again until it ends: platforms give one for many calls.
import type { Cause } from '../../contract/contract-error.ts';
import { assertionPublicKeyAlgs } from '../../crypto/assertion-algorithms.ts';
import { isTyped, type ParsedJwt, parseJwt } from '../../crypto/signing/jwt.ts';
import type { Client } from '../../domain/client/client.ts';
import { issuerIn, isWorkload, mayNameSubject, type WorkloadIssuer } from '../../domain/client/workload.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { nowSeconds } from '../../platform/clock.ts';
import { findCachedClient } from '../../storage/registry/clients/clients.ts';
import { listWorkloadClients, listWorkloadIssuers, peekWorkloadIssuers } from '../../storage/registry/clients/workloads.ts';
import { findTimesFault, findUnsigned, isTime } from './client-assertion.ts';
import { type ClientKeysDeps, issuerKeys } from './client-keys.ts';

type WorkloadDeps = ClientKeysDeps & Parts<'cache'>;

/** A token of an issuer that the tenant knows; nothing of it is verified yet. */
export interface PresentedWorkload {
  readonly jwt: ParsedJwt;
  readonly issuer: WorkloadIssuer;
}

/** Reads the token of a workload; undefined when it is none of an issuer that is registered and enabled. */
export async function readWorkload({ cache }: WorkloadDeps, tenant: Tenant, text: string): Promise<PresentedWorkload | undefined> {
  const issuers = peekWorkloadIssuers(cache, tenant.id) ?? (await listWorkloadIssuers(cache, tenant.id));
  if (issuers.size === 0) return undefined;
  const jwt = parseJwt(text);
  const issuer = jwt && issuers.get(issuerIn(jwt.claims) ?? '');
  return jwt === undefined || issuer === undefined ? undefined : { jwt, issuer };
}

/**
 * The one client that a token is of; why there is none.
 * @param among the client that the request names, where that decides between several
 */
export async function findWorkloadClient(
  services: WorkloadDeps,
  tenant: Tenant,
  { jwt, issuer }: PresentedWorkload,
  among?: string,
): Promise<Client | Cause> {
  const fault = (await findSignatureFault(services, tenant, issuer, jwt)) ?? findClaimsFault(services, tenant, issuer, jwt);
  if (fault !== undefined) return fault;
  const { sub } = jwt.claims;
  if (!mayNameSubject(issuer.issuer, sub)) return { reason: 'assertion_sub', received: String(sub), expected: issuer.issuer };
  const named = typeof sub === 'string' ? await listWorkloadClients(services.cache, tenant.id, issuer.issuer, sub) : [];
  const byClaims = await listWorkloadClients(services.cache, tenant.id, issuer.issuer, undefined);
  const matching = new Set(
    [...named, ...byClaims]
      .filter(({ workloads }) => workloads.some((one) => isWorkload(one, issuer.issuer, jwt.claims)))
      .map(({ clientId }) => clientId),
  );
  const clientId = among === undefined && matching.size === 1 ? [...matching][0] : [...matching].find((one) => one === among);
  if (clientId === undefined)
    return { reason: matching.size < 2 ? 'workload_of_no_client' : 'workload_of_several_clients', received: String(sub) };
  const client = await findCachedClient(services.cache, tenant.id, clientId);
  return client?.enabled === true ? client : { reason: 'client_disabled', received: clientId };
}

/** Types of tokens that are none of a program: an access token (RFC 9068) is for an API. */
const acceptedTypes = ['jwt', 'jose'] as const;

async function findSignatureFault(
  services: WorkloadDeps,
  tenant: Tenant,
  issuer: WorkloadIssuer,
  jwt: ParsedJwt,
): Promise<Cause | undefined> {
  const { typ } = jwt.header;
  if (typ !== undefined && !isTyped(typ, acceptedTypes)) return { reason: 'assertion_typ', received: String(typ) };
  return findUnsigned(jwt, assertionPublicKeyAlgs, (sought) => issuerKeys(services, tenant.id, issuer, sought));
}

function findClaimsFault(
  { clock }: WorkloadDeps,
  tenant: Tenant,
  { audiences, lifetimeSecondsMax }: WorkloadIssuer,
  jwt: ParsedJwt,
): Cause | undefined {
  const { aud, exp, iat } = jwt.claims;
  const accepted = audiences.length === 0 ? [tenant.baseUrl] : audiences;
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!named.some((one) => accepted.includes(one as string)))
    return { reason: 'assertion_aud', received: JSON.stringify(aud), expected: accepted.join(' ') };
  const now = nowSeconds(clock);
  const fault = findTimesFault(now, jwt);
  if (fault !== undefined) return fault;
  if (!isTime(exp)) return undefined; // findTimesFault checked it
  // SPIFFE does not ask for iat: without one it began now at the latest.
  const lifetime = exp - (isTime(iat) ? Math.min(iat, now) : now);
  return lifetime <= lifetimeSecondsMax ? undefined : { reason: 'assertion_exp_too_far', received: lifetime, expected: lifetimeSecondsMax };
}
