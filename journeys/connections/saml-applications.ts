// Applications that sign people in by SAML, each with somebody else who runs it: one that takes our metadata (SimpleSAMLphp where it is
// installed), and one whose page asks for entity ID, sign-in address and certificate (@node-saml/node-saml).
import { SAML } from '@node-saml/node-saml';
import { html } from '../../src/platform/html.ts';
import { rsaKeys } from '../../test/support/rsa-keys.ts';
import { hasSimpleSamlPhp, startSimpleSamlPhp } from '../../test/support/simplesamlphp.ts';
import type { Walker } from '../walker.ts';
import { startWebSite } from './web-site.ts';

export interface SamlApplication {
  readonly entityId: string;
  readonly acsUrl: string;
  /** Whoever runs it has it take us, with what our page for them says. */
  readonly connect: (administrator: Walker, page: HandedOverPage) => Promise<void>;
  /** Where a person signs in to it. */
  readonly startUrl: string;
  readonly close: () => Promise<void>;
}

/** What stands on the page that was sent to them. */
export interface HandedOverPage {
  readonly metadataUrl: string;
  readonly entityId: string;
  readonly ssoUrl: string;
  readonly certificate: string;
}

/** One that is told everything by metadata; its own is published at an address. */
export async function startByMetadata(ourEntityId: string): Promise<SamlApplication & { readonly metadataUrl: string }> {
  if (!hasSimpleSamlPhp()) return startByHand();
  const nothingYet = '<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"/>';
  const sites = await startSimpleSamlPhp(rsaKeys('journeys-saml-application'), { entityId: ourEntityId, metadata: nothingYet });
  const { metadataUrl, startUrl, trust } = sites.signed;
  const metadata = await (await fetch(metadataUrl)).text();
  const [, entityId = ''] = /entityID="([^"]+)"/.exec(metadata) ?? [];
  const [, acsUrl = ''] = /AssertionConsumerService [^>]*Location="([^"]+)"/.exec(metadata) ?? [];
  return {
    metadataUrl,
    entityId,
    acsUrl,
    connect: async (_administrator, page) => trust(await (await fetch(page.metadataUrl)).text()),
    startUrl: await startUrl('redirect'),
    close: sites.close,
  };
}

/** One whose page asks for each. */
export async function startByHand(): Promise<SamlApplication & { readonly metadataUrl: string }> {
  let saml: SAML | undefined;
  const site = await startWebSite({
    '/settings': ({ form }) => {
      const [idpIssuer, entryPoint, idpCert] = ['issuer', 'sso', 'certificate'].map((name) => form.get(name) ?? '');
      if (entryPoint !== '')
        saml = new SAML({
          ...{ issuer: entityId, callbackUrl: acsUrl, audience: entityId, identifierFormat: null },
          ...{ idpIssuer: idpIssuer!, entryPoint: entryPoint!, idpCert: idpCert! },
          ...{ wantAssertionsSigned: true, wantAuthnResponseSigned: true },
        });
      return [
        'Single sign-on',
        html`<p>${saml === undefined ? 'Off' : 'Saved'}</p><form method="post" action="/settings"><label>Identity provider entity ID <input name="issuer"></label> <label>Single sign-on URL <input name="sso"></label> <label>X.509 certificate <textarea name="certificate"></textarea></label> <button>Save</button></form>`,
      ];
    },
    '/login': async ({ response }) => {
      response.writeHead(302, { location: (await saml?.getAuthorizeUrlAsync('', undefined, {})) ?? '/settings' }).end();
      return undefined;
    },
    '/metadata': ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/samlmetadata+xml' }).end(metadataOf({ entityId, acsUrl }));
      return undefined;
    },
    '/acs': async ({ form }) => {
      const { profile } = await saml!.validatePostResponseAsync({ SAMLResponse: form.get('SAMLResponse') ?? '' });
      return ['Welcome', html`<pre>${JSON.stringify(profile?.['attributes'] ?? profile?.nameID)}</pre>`];
    },
  });
  const entityId = `${site.origin}/saml`;
  const acsUrl = `${site.origin}/acs`;
  return {
    entityId,
    acsUrl,
    connect: async ({ goto, type, press, sees }, page) => {
      await goto(`${site.origin}/settings`);
      await type('Identity provider entity ID', page.entityId);
      await type('Single sign-on URL', page.ssoUrl);
      await type('X.509 certificate', page.certificate);
      await press('Save');
      await sees('Saved');
    },
    startUrl: `${site.origin}/login`,
    metadataUrl: `${site.origin}/metadata`,
    close: site.close,
  };
}

/** What the second one publishes, though nobody is told where. */
const metadataOf = ({ entityId, acsUrl }: Pick<SamlApplication, 'entityId' | 'acsUrl'>): string =>
  `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${acsUrl}"/></SPSSODescriptor></EntityDescriptor>`;
