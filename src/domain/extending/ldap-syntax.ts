// What somebody types about a directory of LDAP: its address, names of entries (RFC 4514) and filters (RFC 4515). Each is read in one pass
// from left to right. Pure.
import { distinguishedNameCharsMax, ldapFilterCharsMax, ldapFilterDepthMax } from '../../contract/directory-limits.ts';

interface LdapAddress {
  readonly scheme: 'ldap' | 'ldaps';
  /** In lower case; one of IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const defaultPorts = { ldap: 389, ldaps: 636 } as const;
const address = /^(ldaps?):\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f.]*:[0-9a-f:.]*\])(?::(\d{1,5}))?\/?$/;

/** Where an address goes; undefined for what is none. */
export function ldapAddressOf(url: string): LdapAddress | undefined {
  const [, scheme, host, given] = address.exec(url.toLowerCase()) ?? [];
  if (host === undefined) return undefined;
  const port = given === undefined ? defaultPorts[scheme as LdapAddress['scheme']] : Number(given);
  if (port < 1 || port > 65_535) return undefined;
  return { scheme: scheme as LdapAddress['scheme'], host: host.replaceAll(/[[\]]/g, ''), port }; // of the pattern
}

export const ldapUrlFault = (url: string): string | undefined =>
  ldapAddressOf(url) === undefined
    ? 'must be ldaps:// or ldap:// with a host and, where it is another, a port, and nothing behind them'
    : undefined;

const attributeType = /^\s*(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*$/;

/** What is wrong with the name of an entry. */
export function distinguishedNameFault(name: string): string | undefined {
  const fault = 'must be the name of an entry, such as ou=people,dc=example,dc=com';
  if (name.length > distinguishedNameCharsMax || name.includes('\0')) return fault;
  return partsOf(name).every((part) => {
    const at = part.indexOf('=');
    return at > 0 && attributeType.test(part.slice(0, at)) && part.slice(at + 1).trim() !== '';
  })
    ? undefined
    : fault;
}

/** Between commas and plus signs that no backslash stands before. */
function partsOf(name: string): readonly string[] {
  const parts = [''];
  for (let at = 0; at < name.length; at += 1) {
    const character = name[at]!;
    if (character === ',' || character === '+') parts.push('');
    else parts[parts.length - 1] += character;
    // What follows a backslash is no separator.
    if (character !== '\\') continue;
    at += 1;
    parts[parts.length - 1] += name[at] ?? '';
  }
  return parts;
}

const filterItem = /^[A-Za-z0-9.;-]+(?::dn)?(?::[A-Za-z0-9.-]+)?(?::=|~=|>=|<=|=)(?:[^\\]|\\[0-9A-Fa-f]{2})*$/;

/** What is wrong with a filter. */
export function ldapFilterFault(filter: string): string | undefined {
  const fault = 'must be a filter of LDAP, such as (objectClass=person), with a \\ before two hexadecimal digits';
  if (filter.length > ldapFilterCharsMax || filter.includes('\0')) return fault;
  // How many filters each open parenthesis has within it, and what stands after it.
  const open: { readonly operator: string; filters: number }[] = [];
  let at = 0;
  do {
    if (filter[at] === '(') {
      const next = filter[at + 1] ?? '';
      const isItem = !'&|!'.includes(next) || next === '';
      const end = isItem ? filter.indexOf(')', at) : at + 1;
      if (isItem && (end < 0 || !isFilterItem(filter.slice(at + 1, end)))) return fault;
      const above = open.at(-1);
      if (above !== undefined) above.filters += 1;
      if (!isItem && open.push({ operator: next, filters: 0 }) > ldapFilterDepthMax) return `must nest at most ${ldapFilterDepthMax} deep`;
      at = end + 1;
    } else if (filter[at] === ')') {
      const closed = open.pop();
      if (closed === undefined || closed.filters === 0 || (closed.operator === '!' && closed.filters > 1)) return fault;
      at += 1;
    } else return fault;
  } while (open.length > 0);
  return at === filter.length ? undefined : fault;
}

const isFilterItem = (item: string): boolean => !item.includes('(') && filterItem.test(item);
