// Why metadata was not taken from an address, in words and with what to do; for the reasons an address has most often. For the import and
// for the console's page of a registered one.
import { outboundWords } from '../../platform/net/outbound-words.ts';

const noMetadata = 'There is no SAML metadata at this address. Give the address of the metadata itself, not of a page about it.';

// biome-ignore format: a reason a line
const words: Readonly<Record<string, string>> = {
  ...outboundWords,
  not_well_formed: noMetadata,
  not_metadata: noMetadata,
  doctype: noMetadata,
  no_service_provider: 'The metadata at this address describes no application that people sign in to.',
  metadata_expired: 'The metadata has expired. Ask whoever runs the application to publish it anew.',
  entity_not_in_metadata: 'The document does not describe this entity ID.',
  signature_missing: 'The document is not signed, and a signature is asked for.',
  signature_mismatch: 'The document is signed by another key.',
  digest_mismatch: 'The document was changed after it was signed.',
};

/** What a person can do about it; undefined for a reason that is rare. */
export function unreadWords(reason: string): string | undefined {
  if (Object.hasOwn(words, reason)) return words[reason];
  const [, status] = /^status_(\d+)$/.exec(reason) ?? [];
  if (status === undefined) return undefined;
  return /^3/.test(status)
    ? `The host answered ${status}: the address leads on to another one. Give that one.`
    : `The host answered ${status}. Check the address, and that it opens without signing in.`;
}
