// Chooses the NameID format a request gets and makes the NameID of a user for one provider (SAML core 8.3). Called by
// sso.ts (choice) and postback.ts (value).
import { createHmac } from 'node:crypto';
import { type NameIdFormat, nameIdFormatUris, type ServiceProvider } from '../domain/service-provider.ts';
import type { AuthnRequest } from './authn-request.ts';

export interface NameId {
  readonly format: NameIdFormat;
  readonly value: string;
  readonly nameQualifier: string | undefined;
  readonly spNameQualifier: string | undefined;
}

export type NameIdChoice =
  | { readonly ok: true; readonly format: NameIdFormat }
  | { readonly ok: false; readonly reason: 'format_not_enabled' | 'foreign_sp_name_qualifier' };

/** The format of the answer: the one asked for when the provider has it enabled, else its first for none or unspecified. */
export function chooseNameIdFormat(provider: ServiceProvider, policy: AuthnRequest['nameIdPolicy']): NameIdChoice {
  const { format, spNameQualifier } = policy ?? { format: undefined, spNameQualifier: undefined };
  if (spNameQualifier !== undefined && spNameQualifier !== provider.entityId) return { ok: false, reason: 'foreign_sp_name_qualifier' };
  const asked = format === undefined || format === nameIdFormatUris.unspecified ? provider.nameIdFormats[0] : format;
  const enabled = provider.nameIdFormats.find((candidate) => candidate === asked);
  return enabled === undefined ? { ok: false, reason: 'format_not_enabled' } : { ok: true, format: enabled };
}

export interface NameIdSubject {
  readonly userId: string;
  readonly primaryEmail: string | undefined;
}

export interface NameIdMaterial {
  /** 32 secret bytes of the tenant: who holds them can link a user's names across providers. */
  readonly pairwiseSecret: Buffer;
  readonly idpEntityId: string;
  readonly transientValue: string;
}

/** The name of a user for one provider; undefined when this user has none of the format (no email). */
export function makeNameId(format: NameIdFormat, spEntityId: string, subject: NameIdSubject, material: NameIdMaterial): NameId | undefined {
  switch (format) {
    case nameIdFormatUris.persistent: {
      const value = createHmac('sha256', material.pairwiseSecret).update(`${spEntityId}\0${subject.userId}`).digest('base64url');
      return { format, value, nameQualifier: material.idpEntityId, spNameQualifier: spEntityId };
    }
    case nameIdFormatUris.transient:
      return { format, value: material.transientValue, nameQualifier: undefined, spNameQualifier: undefined };
    case nameIdFormatUris.emailAddress:
      return subject.primaryEmail === undefined
        ? undefined
        : { format, value: subject.primaryEmail, nameQualifier: undefined, spNameQualifier: undefined };
    default:
      return format satisfies never;
  }
}
