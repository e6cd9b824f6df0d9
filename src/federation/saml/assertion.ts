// The assertion of a Response whose signature holds (SAML core 2.3.3, profiles 4.1.4.3): from whom, for whom, until when, in answer
// to what, and about whom. Values are compared exactly. Called by response.ts alone.
import { externalSubjectCharsMax } from '../../contract/limits.ts';
import { parseUtcDateTime } from '../../crypto/xml/date-time.ts';
import { attributeOf, childElements, childrenNamed, isNamed, textOf, type XmlElement } from '../../crypto/xml/tree.ts';
import { nameIdFormatUris } from '../../domain/saml/name-id.ts';
import { samlNamespaces } from '../../domain/saml/saml-names.ts';
import { type ExpectedResponse, isIssuedInTime, isMessageId, issuerOf, type ResponseReading, refuse, toleranceMs } from './expected.ts';

const { assertion: saml } = samlNamespaces;
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Who it is about, when everything it says holds. */
export function readAssertion(assertion: XmlElement, expected: ExpectedResponse): ResponseReading {
  if (attributeOf(assertion, 'Version') !== '2.0') return refuse('version');
  if (!isMessageId(attributeOf(assertion, 'ID'))) return refuse('message_id');
  if (!isIssuedInTime(assertion, expected.nowMs)) return refuse('issue_instant');
  const [issuer, subject, conditions] = ['Issuer', 'Subject', 'Conditions'].map((name) => onlyChild(assertion, name));
  if (issuer === undefined || issuerOf(issuer) !== expected.entityId) return refuse('issuer');
  if (subject === undefined) return refuse('subject');
  const name = onlyChild(subject, 'NameID');
  const nameId = name && textOf(name);
  if (name === undefined || nameId === undefined || nameId.trim() === '') return refuse('no_name_id');
  if (nameId.length > externalSubjectCharsMax) return refuse('subject_too_long');
  const nameIdFormat = attributeOf(name, 'Format') ?? nameIdFormatUris.unspecified;
  if (nameIdFormat === nameIdFormatUris.transient) return refuse('transient_name_id');
  const fault = confirmationFault(subject, expected) ?? (conditions ? conditionsFault(conditions, expected) : 'no_conditions');
  if (fault !== undefined) return refuse(fault);
  const statement = childrenNamed(assertion, saml, 'AuthnStatement')[0];
  const authnInstantMs = parseUtcDateTime(statement && attributeOf(statement, 'AuthnInstant'));
  if (statement === undefined || authnInstantMs === undefined || authnInstantMs > expected.nowMs + toleranceMs)
    return refuse('authn_statement');
  if (hasPassed(attributeOf(statement, 'SessionNotOnOrAfter'), expected.nowMs)) return refuse('session_expired');
  const context = onlyChild(statement, 'AuthnContext');
  const contextClass = context && onlyChild(context, 'AuthnContextClassRef');
  const identity = { nameIdFormat, nameId, authnInstantMs, authnContextClass: contextClass && textOf(contextClass)?.trim() };
  return { ok: true, identity: { ...identity, attributes: attributesOf(assertion) } };
}

function onlyChild(parent: XmlElement, localName: string): XmlElement | undefined {
  const found = childrenNamed(parent, saml, localName);
  return found.length === 1 ? found[0] : undefined;
}

/** One bearer confirmation must hold (profiles 4.1.4.3); the last fault found is told. */
function confirmationFault(subject: XmlElement, { acsUrl, requestId, nowMs }: ExpectedResponse): string | undefined {
  let fault: string | undefined = 'no_bearer_confirmation';
  for (const confirmation of childrenNamed(subject, saml, 'SubjectConfirmation')) {
    const data = onlyChild(confirmation, 'SubjectConfirmationData');
    if (attributeOf(confirmation, 'Method') !== bearer || data === undefined) continue;
    const inResponseTo = attributeOf(data, 'InResponseTo');
    if (attributeOf(data, 'Recipient') !== acsUrl) fault = 'recipient';
    else if (inResponseTo !== requestId) fault = inResponseTo === undefined ? 'unsolicited' : 'in_response_to';
    else if (hasPassed(attributeOf(data, 'NotOnOrAfter') ?? '', nowMs)) fault = 'confirmation_expired';
    else if (isToCome(attributeOf(data, 'NotBefore'), nowMs)) fault = 'confirmation_not_yet';
    else return undefined;
  }
  return fault;
}

/** Conditions we do not know are not met (SAML core 2.5.1). */
function conditionsFault(conditions: XmlElement, { audience, nowMs }: ExpectedResponse): string | undefined {
  if (isToCome(attributeOf(conditions, 'NotBefore'), nowMs)) return 'not_yet_valid';
  if (hasPassed(attributeOf(conditions, 'NotOnOrAfter'), nowMs)) return 'expired';
  const isKnown = (child: XmlElement): boolean =>
    ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'].some((known) => isNamed(child, saml, known));
  if (!childElements(conditions).every(isKnown)) return 'unknown_condition';
  const restrictions = childrenNamed(conditions, saml, 'AudienceRestriction');
  const names = (restriction: XmlElement): boolean => childrenNamed(restriction, saml, 'Audience').some((one) => textOf(one) === audience);
  return restrictions.length > 0 && restrictions.every(names) ? undefined : 'audience';
}

/** True for a time that is over, and for what is no time. */
function hasPassed(value: string | undefined, nowMs: number): boolean {
  if (value === undefined) return false;
  const time = parseUtcDateTime(value);
  return time === undefined || time + toleranceMs <= nowMs;
}

/** True for a time that is to come, and for what is no time. */
function isToCome(value: string | undefined, nowMs: number): boolean {
  if (value === undefined) return false;
  const time = parseUtcDateTime(value);
  return time === undefined || time - toleranceMs > nowMs;
}

function attributesOf(assertion: XmlElement): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const all = childrenNamed(assertion, saml, 'AttributeStatement').flatMap((one) => childrenNamed(one, saml, 'Attribute'));
  for (const attribute of all) {
    const name = attributeOf(attribute, 'Name') ?? '';
    const values = childrenNamed(attribute, saml, 'AttributeValue').flatMap((one) => textOf(one) ?? []);
    found.set(name, [...(found.get(name) ?? []), ...values]);
  }
  return found;
}
