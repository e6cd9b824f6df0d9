// A company's own sign-in by SAML: SimpleSAMLphp where it is installed, else a provider made of the tests' own answers. Either has two
// people, who sign in at its pages.

import { html } from '../../src/platform/html.ts';
import { rsaKeys } from '../../test/support/rsa-keys.ts';
import { buildResponse, idpMetadata, idpSsoUrl, readAsked, signElement } from '../../test/support/saml-upstream.ts';
import { hasSimpleSamlPhp } from '../../test/support/simplesamlphp.ts';
import { startSimpleSamlIdp } from '../../test/support/simplesamlphp-idp.ts';
import type { Walker } from '../walker.ts';
import { startWebSite } from './web-site.ts';

export interface SamlUpstream {
  /** What its administrator downloads. */
  readonly metadata: string;
  /** Its administrator gives it our metadata. */
  readonly trust: (ours: string) => void;
  /** One of its people signs in at its page. */
  readonly signIn: (walker: Walker, email: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const password = 'password-of-the-journeys';

export const startSamlUpstream = (emails: readonly string[]): Promise<SamlUpstream> =>
  hasSimpleSamlPhp() ? simpleSaml(emails) : ownSaml(emails);

async function simpleSaml(emails: readonly string[]): Promise<SamlUpstream> {
  const people = emails.map((mail) => ({ uid: mail, mail, givenName: 'Zora', sn: 'Neale', password }));
  const idp = await startSimpleSamlIdp(rsaKeys('journeys-saml-upstream'), people);
  return {
    metadata: await idp.metadata(),
    trust: (ours) => idp.trust(ours, false),
    signIn: async ({ type, press, way }, email) => {
      await type('Username', email);
      await type('Password', password);
      await press('Login');
      if (way === 'no script') await press('Submit');
    },
    close: idp.close,
  };
}

async function ownSaml(emails: readonly string[]): Promise<SamlUpstream> {
  const site = await startWebSite({
    '/sso': ({ url }) => {
      const asked = readAsked(`${idpSsoUrl}&${url.search.slice('?app=1&'.length)}`);
      const answers = emails.map((email) => {
        const xml = signElement(buildResponse(asked, Date.now(), { nameId: email, email }), 'Assertion');
        const response = Buffer.from(xml).toString('base64');
        return html`<form method="post" action="${asked.acsUrl}"><input type="hidden" name="SAMLResponse" value="${response}"><input type="hidden" name="RelayState" value="${asked.relayState}"><button>${email}</button></form>`;
      });
      return ['Who are you?', html`${answers}`];
    },
  });
  return {
    metadata: (await idpMetadata()).replace(idpSsoUrl, `${site.origin}/sso?app=1`),
    trust: () => undefined,
    signIn: ({ press }, email) => press(email),
    close: site.close,
  };
}
