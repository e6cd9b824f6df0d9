// The NameIDs of SAML (core 8.3): their formats, which of them need a source, and what may be one (design 15, "NameID"). Pure.

import type { Json } from '../field.ts';
import { isCustomPath } from '../people/custom-attributes.ts';
import { nameIdColumns, type UserColumn } from '../people/user-attributes.ts';

export const nameIdFormatUris = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  encrypted: 'urn:oasis:names:tc:SAML:2.0:nameid-format:encrypted',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  x509SubjectName: 'urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName',
  windowsDomainQualifiedName: 'urn:oasis:names:tc:SAML:1.1:nameid-format:WindowsDomainQualifiedName',
} as const;

/** The formats a service provider may enable; its first is the default. */
export const nameIdFormats = Object.values(nameIdFormatUris);
export type NameIdFormat = (typeof nameIdFormats)[number];
/** Formats of names; `encrypted` says how one is carried. */
export type PlainNameIdFormat = Exclude<NameIdFormat, typeof nameIdFormatUris.encrypted>;

/** Those every provider can be given without saying more. */
export const defaultNameIdFormats = [nameIdFormatUris.persistent, nameIdFormatUris.emailAddress, nameIdFormatUris.transient] as const;

const formatsThatNeedASource: readonly NameIdFormat[] = [
  nameIdFormatUris.unspecified,
  nameIdFormatUris.x509SubjectName,
  nameIdFormatUris.windowsDomainQualifiedName,
];

/** By format, the path of the value its names are; the formats without one are made here. */
export type NameIdSources = Readonly<Partial<Record<NameIdFormat, string>>>;

export const needsSource = (format: NameIdFormat): boolean => formatsThatNeedASource.includes(format);

/** The first format that is one of names: what `encrypted` carries, and what is given when nothing else is asked for. */
export const plainDefault = (formats: readonly NameIdFormat[]): PlainNameIdFormat | undefined =>
  formats.find((format) => format !== nameIdFormatUris.encrypted);

export type NameIdSource =
  /** Unique: no two users of a tenant can have the same value. */
  | { readonly kind: 'column'; readonly column: UserColumn; readonly isUnique: boolean }
  /** Without a type, the primary address. */
  | { readonly kind: 'email'; readonly type: string | undefined }
  /** An attribute of the tenant, by its path. */
  | { readonly kind: 'custom'; readonly path: string };

const columns: ReadonlyMap<string, NameIdSource> = new Map(
  nameIdColumns.map((one) => [one.path, { kind: 'column', column: one.name, isUnique: one.unique === true }]),
);

/** What a path of `name_id_sources` means; undefined for one that names nothing a NameID may be made of. */
export function parseNameIdSource(path: string): NameIdSource | undefined {
  const column = columns.get(path);
  if (column !== undefined) return column;
  if (isCustomPath(path)) return { kind: 'custom', path };
  if (path === 'emails.primary') return { kind: 'email', type: undefined };
  const type = /^emails\[([A-Za-z0-9_-]{1,40})\]$/.exec(path)?.[1];
  return type === undefined ? undefined : { kind: 'email', type };
}

/** Sources that every tenant has. */
export const nameIdSourceNames: readonly string[] = [...columns.keys(), 'emails.primary', 'emails[work]'];
const sourcePaths = [...nameIdSourceNames, 'custom.<name>'].join(', ');

/** What is wrong with the sources as given. */
export function nameIdSourcesFault(given: object): string | undefined {
  for (const [format, path] of Object.entries(given as Json)) {
    if (!nameIdFormats.some((known) => known === format)) return `"${format.slice(0, 80)}" is no NameID format that is made here.`;
    if (format === nameIdFormatUris.transient || format === nameIdFormatUris.encrypted)
      return `${format} takes no source: transient names are random, and encrypted carries the default format.`;
    if (typeof path !== 'string' || parseNameIdSource(path) === undefined)
      return `"${String(path).slice(0, 50)}" is no source of names. Known: ${sourcePaths}.`;
  }
  return undefined;
}

/** What is wrong with the formats and sources of a provider together, and the field to look at. */
export function nameIdFault(
  formats: readonly NameIdFormat[],
  sources: NameIdSources,
  hasEncryptionKey: boolean,
): { readonly field: 'name_id_formats' | 'name_id_sources'; readonly text: string } | undefined {
  const bare = formats.find((format) => needsSource(format) && sources[format] === undefined);
  if (bare !== undefined) return { field: 'name_id_sources', text: `Names of ${bare} need a source: ${sourcePaths}.` };
  if (!formats.includes(nameIdFormatUris.encrypted)) return undefined;
  if (!hasEncryptionKey) return { field: 'name_id_formats', text: 'Encrypted names need an RSA key in encryption_key.' };
  if (plainDefault(formats) !== undefined) return undefined;
  return { field: 'name_id_formats', text: 'Encrypted says how a name is carried: list the format of the name, too.' };
}
