// Which text XML can carry (XML 1.0 section 2.2); what is stored is held to it, so that SAML and PostgreSQL can carry it too.

const notXmlCharacter = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** True when every character may stand in an XML 1.0 document; false for control characters and lone surrogates. */
export function isXmlText(value: string): boolean {
  return !notXmlCharacter.test(value);
}
