// What a Response must be to be the answer to ours, and the checks a Response and its assertion share. Called by response.ts and assertion.ts.
import type { KeyObject } from 'node:crypto';
import { samlClockToleranceSeconds, samlMessageIdCharsMax } from '../../contract/limits.ts';
import { isNcName } from '../../crypto/xml/characters.ts';
import { parseUtcDateTime } from '../../crypto/xml/date-time.ts';
import { attributeOf, textOf, type XmlElement } from '../../crypto/xml/tree.ts';

export interface AssertedIdentity {
  /** Full URN; unspecified where none is named. */
  readonly nameIdFormat: string;
  readonly nameId: string;
  readonly authnInstantMs: number;
  readonly authnContextClass: string | undefined;
  /** The texts of each attribute, by Name. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

export interface ExpectedResponse {
  /** Of the identity provider. */
  readonly entityId: string;
  readonly signingKeys: readonly KeyObject[];
  readonly decryptionKeys: readonly KeyObject[];
  /** Our entityID there. */
  readonly audience: string;
  readonly acsUrl: string;
  /** The ID of our AuthnRequest. */
  readonly requestId: string;
  readonly nowMs: number;
}

export type Refusal = { readonly ok: false; readonly detail: string };
export type ResponseReading = { readonly ok: true; readonly identity: AssertedIdentity } | Refusal;

export const toleranceMs = samlClockToleranceSeconds * 1000;

export const refuse = (detail: string): Refusal => ({ ok: false, detail });

export const isMessageId = (id: string | undefined): boolean => id !== undefined && id.length <= samlMessageIdCharsMax && isNcName(id);

/** The text of an Issuer that names an entity; undefined for another kind of name. */
export function issuerOf(issuer: XmlElement): string | undefined {
  const format = attributeOf(issuer, 'Format');
  return format === undefined || format === 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity' ? textOf(issuer) : undefined;
}

/** True when an IssueInstant is a time that is not to come. */
export function isIssuedInTime(element: XmlElement, nowMs: number): boolean {
  const instant = parseUtcDateTime(attributeOf(element, 'IssueInstant'));
  return instant !== undefined && instant <= nowMs + toleranceMs;
}
