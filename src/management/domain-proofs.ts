// `domain_proofs` of whatever names domains: where each TXT record stands, its text, and since when it proves the domain.
import Type from 'typebox';
import { type NamesDomains, proofsOf } from '../administration/domain-proofs.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ProvenDomain } from '../storage/registry/proven-domains.ts';
import { isoTime, type Json } from './endpoint.ts';
import { dateTime, nullable } from './schemas.ts';

export const domainProofs = Type.Array(
  Type.Object({
    domain: Type.String(),
    name: Type.String({ description: 'where the TXT record stands' }),
    value: Type.String({ description: 'its text' }),
    proven_at: nullable(dateTime),
  }),
);

export const proofsToJson = (tenant: TenantId, owner: NamesDomains, proven: readonly ProvenDomain[]): readonly Json[] =>
  proofsOf(tenant, owner, proven).map(({ provenAtMs, ...record }) => ({
    ...record,
    proven_at: provenAtMs === undefined ? null : isoTime(provenAtMs),
  }));
