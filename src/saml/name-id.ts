// Chooses the NameID format a request gets and makes the NameID of a user for one provider (SAML core 8.3). Called by
// sso.ts (choice) and postback.ts (value).
import { createHmac } from 'node:crypto';
import { samlNameIdCharsMax } from '../contract/limits.ts';
import {
  type NameIdFormat,
  type NameIdSource,
  nameIdFormatUris,
  type PlainNameIdFormat,
  parseNameIdSource,
  plainDefault,
} from '../domain/saml/name-id.ts';
import type { ServiceProvider } from '../domain/saml/service-provider.ts';
import type { AssertionSubject } from './attributes.ts';
import type { AuthnRequest } from './authn-request.ts';

export interface NameId {
  readonly format: PlainNameIdFormat;
  readonly value: string;
  readonly nameQualifier: string | undefined;
  readonly spNameQualifier: string | undefined;
}

type NameIdChoice =
  | { readonly ok: true; readonly format: NameIdFormat }
  | { readonly ok: false; readonly reason: 'format_not_enabled' | 'foreign_sp_name_qualifier' };

/** The format of the answer: the one asked for when the provider may have it, else its first for none or unspecified. */
export function chooseNameIdFormat(provider: ServiceProvider, policy: AuthnRequest['nameIdPolicy']): NameIdChoice {
  const { format, spNameQualifier } = policy ?? { format: undefined, spNameQualifier: undefined };
  if (spNameQualifier !== undefined && spNameQualifier !== provider.entityId) return { ok: false, reason: 'foreign_sp_name_qualifier' };
  const isOpen = format === undefined || (format === nameIdFormatUris.unspecified && !mayHave(provider, format));
  const asked = isOpen ? provider.nameIdFormats[0] : format;
  return asked !== undefined && mayHave(provider, asked) ? { ok: true, format: asked } : { ok: false, reason: 'format_not_enabled' };
}

/** Whether names of this format are given to the provider: those enabled, and encrypted ones to whoever has a key. */
function mayHave(provider: ServiceProvider, format: string): format is NameIdFormat {
  if (format === nameIdFormatUris.encrypted) return provider.encryptionKey !== undefined;
  return provider.nameIdFormats.some((enabled) => enabled === format);
}

/** What a name of this format is made of. */
export interface NameIdPlan {
  readonly format: PlainNameIdFormat;
  /** Undefined: made here. */
  readonly source: NameIdSource | undefined;
  /** Carried as EncryptedID. */
  readonly isEncrypted: boolean;
}

/** How the name that was chosen is made now; undefined when the provider may not have it any more. */
export function planNameId(provider: ServiceProvider, chosen: NameIdFormat): NameIdPlan | undefined {
  const isEncrypted = chosen === nameIdFormatUris.encrypted;
  const format = isEncrypted ? plainDefault(provider.nameIdFormats) : chosen;
  if (format === undefined || !mayHave(provider, chosen)) return undefined;
  const path = provider.nameIdSources[format] ?? (format === nameIdFormatUris.emailAddress ? 'emails.primary' : undefined);
  return { format, source: path === undefined ? undefined : parseNameIdSource(path), isEncrypted };
}

/** The value a source has for a user; undefined when this user has none. */
function valueOfSource(source: NameIdSource, { user, emails, custom }: AssertionSubject): string | undefined {
  if (source.kind === 'column') return user[source.column] ?? undefined;
  if (source.kind === 'custom') return custom[source.path.slice('custom.'.length)]?.toString();
  const { type } = source;
  const inOrder = emails.toSorted((left, right) => right.is_primary - left.is_primary || left.position - right.position);
  if (type === undefined) return inOrder.find((email) => email.is_primary === 1)?.value;
  return inOrder.find((email) => email.type?.toLowerCase() === type.toLowerCase())?.value;
}

interface NameIdMaterial {
  /** 32 secret bytes of the tenant: who holds them can link a user's names across providers. */
  readonly pairwiseSecret: Buffer;
  readonly idpEntityId: string;
  readonly transientValue: string;
}

type NameIdReading =
  | { readonly ok: true; readonly nameId: NameId }
  | { readonly ok: false; readonly reason: 'user_has_no_email' | 'user_has_no_name' | 'name_too_long' };

/** The name of a user for one provider. */
export function makeNameId(plan: NameIdPlan, spEntityId: string, subject: AssertionSubject, material: NameIdMaterial): NameIdReading {
  const { format, source } = plan;
  const value = source === undefined ? valueMadeHere(format, spEntityId, subject.user.id, material) : valueOfSource(source, subject);
  if (value === undefined) return { ok: false, reason: source?.kind === 'email' ? 'user_has_no_email' : 'user_has_no_name' };
  if ([...value].length > samlNameIdCharsMax) return { ok: false, reason: 'name_too_long' };
  const isPersistent = format === nameIdFormatUris.persistent;
  const nameQualifier = isPersistent ? material.idpEntityId : undefined;
  return { ok: true, nameId: { format, value, nameQualifier, spNameQualifier: isPersistent ? spEntityId : undefined } };
}

// Registration gives the other formats a source; were one gone, there is no name.
function valueMadeHere(format: PlainNameIdFormat, spEntityId: string, userId: string, material: NameIdMaterial): string | undefined {
  if (format === nameIdFormatUris.transient) return material.transientValue;
  if (format !== nameIdFormatUris.persistent) return undefined;
  return createHmac('sha256', material.pairwiseSecret).update(`${spEntityId}\0${userId}`).digest('base64url');
}
