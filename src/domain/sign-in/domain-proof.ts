// How the owner of a domain shows that a provider may answer for its addresses, or that it is an organisation's: a TXT record beside the
// domain that names tenant and provider or organisation, so that it proves nothing to another tenant and for another of them. Pure.
import { hash } from 'node:crypto';
import { domainCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../fold.ts';
import type { TenantId } from '../ids.ts';

export interface DomainRecord {
  /** Where the TXT record stands. */
  readonly name: string;
  /** Its whole text. */
  readonly value: string;
}

/** Whose record it is: another one once a provider has become somebody else. */
interface Proving {
  readonly id: string;
  readonly domainProofSalt?: string | undefined;
}

/** The record that proves a domain. Nothing in it is secret: only who owns the domain can publish it. */
export function domainRecord(tenant: TenantId, { id, domainProofSalt: salt }: Proving, domain: string): DomainRecord {
  const token = hash('sha256', JSON.stringify([tenant, id, domain, ...(salt === undefined ? [] : [salt])]), 'base64url');
  return { name: `_gatehouse.${domain}`, value: `gatehouse-domain=${token}` };
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const domainSyntax = new RegExp(`^(?:${label}\\.)+${label}$`);

/** What is wrong with a list of domains: each in lower case, as DNS writes it. */
export function domainsFault(domains: readonly string[]): string | undefined {
  const wrong = domains.find((domain) => domain.length > domainCharsMax || !domainSyntax.test(domain));
  return wrong === undefined ? undefined : `must hold domains in lower case such as example.com (international ones as xn--), not ${wrong}`;
}

/** The domain of an address, folded as addresses are looked up; undefined for what is no address. */
export function domainOf(address: string): string | undefined {
  const key = foldKey(address);
  const at = key.lastIndexOf('@');
  return at < 1 ? undefined : key.slice(at + 1);
}
