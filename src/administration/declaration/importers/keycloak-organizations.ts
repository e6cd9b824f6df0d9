// The organisations of a Keycloak realm export as items of a document, and who is in which. Members are named by user name there.
import { organizationMetadataBytesMax } from '../../../contract/limits.ts';
import { foldKey } from '../../../domain/fold.ts';
import { domainsFault } from '../../../domain/sign-in/domain-proof.ts';
import { compact, type Json } from '../document.ts';
import { type Left, listOf, noteLeft, textOf, uuidOf } from './imported.ts';

interface ImportedOrganizations {
  readonly items: readonly Json[];
  /** The names of the organisations people are in, by folded user names and by ids. */
  readonly ofMember: ReadonlyMap<string, readonly string[]>;
}

export function organizationsOf(realm: Json, left: Left): ImportedOrganizations {
  const items: Json[] = [];
  const ofMember = new Map<string, readonly string[]>();
  const taken = new Set<string>();
  const domains = new Set<string>();
  for (const organization of listOf(realm['organizations'])) {
    const title = textOf(organization['name']);
    const name = slugOf(textOf(organization['alias']) ?? title ?? '');
    if (name === '' || uuidOf(name) !== undefined || taken.has(name)) {
      noteLeft(left, 'organizations', 'without an alias that makes a name of its own here');
      continue;
    }
    taken.add(name);
    if (listOf(organization['identityProviders']).length > 0) noteLeft(left, 'identity providers of organizations', 'has no counterpart');
    items.push(
      compact({
        id: uuidOf(organization['id']),
        name,
        display_name: title === name ? undefined : title,
        metadata: metadataOf(organization, left),
        domains: domainsOf(organization, domains, left),
        enabled: organization['enabled'] === false ? false : undefined,
      }),
    );
    for (const member of listOf(organization['members']))
      for (const key of [textOf(member['username']), textOf(member['id'])]) {
        const folded = key && foldKey(key);
        if (folded !== undefined) ofMember.set(folded, [...new Set([...(ofMember.get(folded) ?? []), name])]);
      }
  }
  return { items, ofMember };
}

const nameCharsMax = 63;
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, nameCharsMax)
    .replace(/^-+|-+$/g, '');

function metadataOf({ attributes, description }: Json, left: Left): Json | undefined {
  const given = { ...((attributes ?? {}) as Json), ...(textOf(description) === undefined ? {} : { description }) };
  if (Object.keys(given).length === 0) return undefined;
  if (Buffer.byteLength(JSON.stringify(given)) <= organizationMetadataBytesMax) return given;
  noteLeft(left, 'attributes of organizations', `longer than ${organizationMetadataBytesMax} bytes together`);
  return undefined;
}

/** Each is proven here anew, whoever verified it there. */
function domainsOf(organization: Json, taken: Set<string>, left: Left): readonly string[] | undefined {
  const named = listOf(organization['domains']).flatMap((domain) => textOf(domain['name'])?.toLowerCase() ?? []);
  const own = [...new Set(named)].filter((domain) => !taken.has(domain) && domainsFault([domain]) === undefined);
  for (const domain of own) taken.add(domain);
  if (own.length < named.length) noteLeft(left, 'domains of organizations', 'named twice, or no domain', named.length - own.length);
  return own.length === 0 ? undefined : own;
}
