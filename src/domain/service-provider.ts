// A SAML service provider as registered (design 02, /service-providers; contract 7.12). Pure data and predicates.
import type { ServiceProviderId } from './ids.ts';

export const nameIdFormatUris = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const;

/** The formats a service provider may enable; `unspecified` in a request means its first. */
export const nameIdFormats = [nameIdFormatUris.persistent, nameIdFormatUris.emailAddress, nameIdFormatUris.transient] as const;
export type NameIdFormat = (typeof nameIdFormats)[number];

/** User field paths an attribute map may name. */
export const attributeFields = [
  'id',
  'user_name',
  'external_id',
  'display_name',
  'nick_name',
  'profile_url',
  'title',
  'user_type',
  'preferred_language',
  'locale',
  'timezone',
  'name.formatted',
  'name.given_name',
  'name.family_name',
  'name.middle_name',
  'name.honorific_prefix',
  'name.honorific_suffix',
  'emails',
  'groups',
] as const;
export type AttributeField = (typeof attributeFields)[number];

export interface AssertionConsumerService {
  readonly url: string;
  readonly index: number;
  readonly default: boolean;
}

export interface AssertionEncryption {
  readonly algorithm: 'aes256-gcm' | 'aes256-cbc';
  readonly keyTransport: 'rsa-oaep-mgf1p' | 'rsa-oaep-sha256';
}

export interface ServiceProvider {
  readonly id: ServiceProviderId;
  readonly entityId: string;
  readonly name: string;
  /** Never empty; exactly one is the default. */
  readonly acs: readonly AssertionConsumerService[];
  /** PEM, RSA; two during the provider's own rollover. */
  readonly signingKeys: readonly string[];
  /** PEM, RSA. */
  readonly encryptionKey: string | undefined;
  readonly requireSignedRequests: boolean;
  readonly signing: 'both' | 'assertion' | 'response';
  readonly encryptAssertions: boolean;
  readonly encryption: AssertionEncryption;
  /** Never empty; the first is the default. */
  readonly nameIdFormats: readonly NameIdFormat[];
  readonly idpInitiatedAllowed: boolean;
  /** What an IdP-initiated sign-in may carry; the first is sent when none of these was asked for. */
  readonly relayStates: readonly string[];
  /** User field path to attribute Name. */
  readonly attributeMap: Readonly<Partial<Record<AttributeField, string>>>;
  readonly accessPolicy: 'everyone' | 'assigned';
  readonly enabled: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The consumer service answers go to when a request names none. */
export function defaultAcs(provider: ServiceProvider): AssertionConsumerService {
  const found = provider.acs.find((acs) => acs.default) ?? provider.acs[0];
  if (found === undefined) throw new Error(`service provider ${provider.id} has no assertion consumer service`);
  return found;
}
