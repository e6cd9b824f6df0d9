// The organisations of a Keycloak realm export as items of a document, and who is in which. Members are named by user name there.
import { foldKey } from '../../../domain/fold.ts';
import { compact, type Json } from '../document.ts';
import { domainsWithin, type Left, listOf, metadataWithin, nameWithin, noteLeft, textOf, uuidOf } from './imported.ts';

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
    const name = nameWithin(textOf(organization['alias']) ?? title, taken, left);
    if (name === undefined) continue;
    if (listOf(organization['identityProviders']).length > 0) noteLeft(left, 'identity providers of organizations', 'has no counterpart');
    items.push(
      compact({
        id: uuidOf(organization['id']),
        name,
        display_name: title === name ? undefined : title,
        metadata: metadataOf(organization, left),
        domains: domainsWithin(
          listOf(organization['domains']).map((domain) => domain['name']),
          domains,
          left,
        ),
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

function metadataOf({ attributes, description }: Json, left: Left): Json | undefined {
  const given = { ...((attributes ?? {}) as Json), ...(textOf(description) === undefined ? {} : { description }) };
  return metadataWithin(given, 'attributes', left);
}
