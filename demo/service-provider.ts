// A SAML service provider on the public library node-saml: sends an AuthnRequest and validates the signed response.
import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { BenchTenant } from '../bench/tenant.ts';
import type { Browser } from './person.ts';
import type { Setup } from './setup.ts';
import { say } from './transcript.ts';

const entityId = 'https://sp.acme.example/metadata';
const acs = 'https://sp.acme.example/acs';

/** Registers the provider, sends the browser through a sign-in and says whom the provider got to know. */
export async function signInToServiceProvider(tenant: BenchTenant, setup: Setup, browser: Browser): Promise<void> {
  await setup.manage('/service-providers', 'POST', {
    entity_id: entityId,
    acs: [{ url: acs, index: 0, default: true }],
    attribute_map: { user_name: 'uid', 'name.given_name': 'givenName', groups: 'memberOf' },
  });
  const idpCert = await (await fetch(`${tenant.baseUrl}/v1/idp/saml/certificate`)).text();
  const provider = new SAML({
    issuer: entityId,
    audience: entityId,
    callbackUrl: acs,
    entryPoint: `${tenant.baseUrl}/v1/idp/saml/sso`,
    idpIssuer: `${tenant.baseUrl}/v1/idp/saml/metadata`,
    idpCert,
    identifierFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    validateInResponseTo: ValidateInResponseTo.always,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: true,
  });
  const { body } = await browser.visit(await provider.getAuthorizeUrlAsync('back-to-here', undefined, {}));
  const { acs_url: acsUrl, saml_response: samlResponse } = JSON.parse(body) as { acs_url: string; saml_response: string };
  const { profile } = await provider.validatePostResponseAsync({ SAMLResponse: samlResponse });
  if (profile === null) throw new Error('expected a profile, found none');
  say(`a signed response of ${samlResponse.length} characters goes to ${acsUrl}`);
  say(
    `the provider now knows: nameID ${profile.nameID.slice(0, 12)}…, uid ${String(profile['uid'])}, givenName ${String(profile['givenName'])}, memberOf ${String(profile['memberOf'])}`,
  );
}
