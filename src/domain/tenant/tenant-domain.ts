// The DNS records of a tenant's own domain (design 13, 3): the TXT record that shows it is the tenant's, which names it, so that it proves
// nothing for another; and the CNAME record by which browsers reach the deployment. Pure.
import { hash } from 'node:crypto';
import type { TenantId } from '../ids.ts';

interface DnsRecord {
  readonly type: 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
}

/** @param domain an origin such as https://login.acme.example */
export function domainRecords(tenant: TenantId, domain: string, publicUrl: string): readonly [txt: DnsRecord, cname: DnsRecord] {
  const host = new URL(domain).hostname;
  const token = hash('sha256', JSON.stringify([tenant, 'tenant', host]), 'base64url');
  return [
    { type: 'TXT', name: `_gatehouse.${host}`, value: `gatehouse-domain=${token}` },
    { type: 'CNAME', name: host, value: new URL(publicUrl).hostname },
  ];
}
