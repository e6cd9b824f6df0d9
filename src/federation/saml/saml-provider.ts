// SAML identity providers: an AuthnRequest by Redirect, a Response by POST. The request's ID is made from the sign-in's nonce, so it is
// answered once: with the state that is used by one UPDATE. Nothing unsolicited is taken, and nobody is called.
import { parseBase64 } from '../../crypto/xml/characters.ts';
import { nameIdFormatUris } from '../../domain/saml/name-id.ts';
import { fieldOfAttributeName } from '../../domain/saml/saml-attribute-names.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import { acrOf, usableEmail } from '../../domain/sign-in/external-identity.ts';
import { type Identified, type ProviderProtocol, refused, type Upstream } from '../upstream.ts';
import { redirectToIdp, writeAuthnRequest } from './authn-request.ts';
import type { AssertedIdentity } from './expected.ts';
import { metadataOf } from './idp-metadata.ts';
import { readResponse } from './response.ts';
import { spEntityId } from './sp-metadata.ts';

/** An NCName, which a nonce may not be. */
const requestIdOf = (nonce: string): string => `_${nonce}`;

export const samlProvider: ProviderProtocol = {
  start: async ({ clock }, upstream, { state, nonce, maxAgeSeconds, signInAgain }) => {
    const { provider, callbackUri, samlKeys } = upstream;
    const idp = metadataOf(provider);
    const asked = { id: requestIdOf(nonce), issuer: spEntityId(callbackUri), acsUrl: callbackUri, nowMs: clock.nowMs() };
    const xml = writeAuthnRequest(idp, { ...asked, forceAuthn: signInAgain || maxAgeSeconds === 0 });
    const signer = idp.wantsSignedRequests ? (await samlKeys()).current.privateKey : undefined;
    return { ok: true, location: await redirectToIdp(idp.ssoUrl, xml, state, signer) };
  },
  identify: async ({ clock }, upstream, { parameters, nonce }) => {
    const { provider, callbackUri, samlKeys } = upstream;
    const [response, ...others] = parameters.getAll('SAMLResponse');
    const xml = response === undefined || others.length > 0 ? undefined : parseBase64(response, 'allowed');
    if (xml === undefined) return refused('no_response');
    const idp = metadataOf(provider);
    const { current, next } = await samlKeys();
    const nowMs = clock.nowMs();
    const reading = readResponse(xml, {
      entityId: idp.entityId,
      signingKeys: idp.signingKeys,
      decryptionKeys: [next.privateKey, current.privateKey],
      audience: spEntityId(callbackUri),
      acsUrl: callbackUri,
      requestId: requestIdOf(nonce),
      nowMs,
    });
    if (!reading.ok) return refused(reading.detail);
    return identified(upstream, idp.entityId, reading.identity);
  },
};

const claimOfField: Readonly<Record<string, string>> = {
  'name.given_name': 'given_name',
  'name.family_name': 'family_name',
  display_name: 'name',
  locale: 'locale',
};

function identified({ provider }: Upstream, issuer: string, asserted: AssertedIdentity): Identified {
  const { nameId, nameIdFormat, attributes, authnContextClass, authnInstantMs } = asserted;
  const claims: Record<string, string | readonly string[]> = {};
  let email = nameIdFormat === nameIdFormatUris.emailAddress ? usableEmail(nameId) : undefined;
  for (const [name, values] of attributes) {
    const [value] = values;
    if (value === undefined) continue;
    claims[name] = values.length > 1 ? values : value;
    const field = fieldOfAttributeName(name) ?? '';
    const claim = claimOfField[field];
    if (claim !== undefined) claims[claim] ??= value;
    if (field === 'emails') email ??= usableEmail(value);
  }
  const identity = {
    providerId: provider.id,
    issuer,
    subject: subjectOf(nameIdFormat, nameId),
    email,
    // SAML has no word for "verified": who signed the assertion answers for its values, and the administrator trusts them or not.
    emailCounts: email !== undefined && provider.trustEmail,
    ownDomain: email && domainOf(email),
    sessionId: undefined,
    acr: acrOf(provider, authnContextClass),
    authTimeMs: authnInstantMs,
  };
  return { ok: true, identity, claims };
}

/** How a persistent name begins that would read as one of another format of SAML (core 8.3), or as one that is marked already. */
const readsAsAnother = /^(?:persistent|unspecified|emailAddress|X509SubjectName|WindowsDomainQualifiedName|kerberos|entity):/;

/** One text in two formats names two people: a name one chooses must not be a name one is given. Links keep what is written here. */
function subjectOf(format: string, nameId: string): string {
  if (format !== nameIdFormatUris.persistent) return `${format.split(':').at(-1)}:${nameId}`;
  return readsAsAnother.test(nameId) ? `persistent:${nameId}` : nameId;
}
