// The trial of a service provider that is a website (design 15, "Must pass"): its metadata imported, ours given in return; then
// sign-ins by both bindings with signed and unsigned requests, attributes, encryption, one from our side, two rotations of our key.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from './management.ts';
import { assertDelivered, finishSignIn, insertSamlUser, openSamlIdp, postback, type SamlIdp, samlFlags, startSignIn } from './saml-idp.ts';
import { type Binding, openVisitor, type SamlWebsite, type Visitor, type WebsiteRequest, type Websites } from './saml-website.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface WebsiteKind {
  readonly name: string;
  /** Starts it, trusting the metadata everybody may read. */
  readonly open: (idp: { readonly entityId: string; readonly metadata: string }) => Promise<Websites>;
  /** Those it takes of the bindings our metadata offers. */
  readonly bindings: readonly Binding[];
  /** False: its metadata does not say that it signs; it does so when ours wants it. */
  readonly declaresSigning?: boolean;
  /** What its metadata makes of encryption. */
  readonly encryption: string;
  /** True: told to want encryption, it takes nothing else. */
  readonly refusesPlain?: boolean;
  /** What its pages say of the person. */
  readonly shows: readonly string[];
  /** More tests of this kind alone. */
  readonly more?: (trial: Trial) => void;
}

export interface Trial {
  readonly server: () => TestServer;
  readonly tenant: () => Managed;
  /** Imports a site's metadata and gives it what we publish for it. */
  readonly introduce: (site: SamlWebsite) => Promise<Json>;
  /** Requires signatures of a provider whose metadata does not speak of them, and says so in ours. */
  readonly demandSignatures: (site: SamlWebsite, provider: Json) => Promise<void>;
  /** Signs the person in and gives the site's page. */
  readonly visit: (site: SamlWebsite) => Promise<string>;
  readonly user: () => UserId;
  readonly sites: () => Websites;
  /** Starts a sign-in and gives our answer to the request. */
  readonly ask: (visitor: Visitor, site: SamlWebsite, binding: Binding) => Promise<Response>;
}

export const person = { userName: 'zoë', email: 'zoe@example.com', displayName: 'Zoë Ångström' };

export function tryWebsite(kind: WebsiteKind): void {
  suite(`${kind.name}, from metadata alone`, () => {
    let server: TestServer;
    let tenant: Managed;
    let idp: SamlIdp;
    let user: UserId;
    let sites: Websites;
    const ownMetadata = async (provider: Json): Promise<string> =>
      (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata/${provider['id']}`)).text();
    const introduce: Trial['introduce'] = async (site) => {
      const metadata = await fetch(site.metadataUrl);
      const imported = await fetch(`${tenant.managementApi}/service-providers/import`, {
        method: 'POST',
        body: await metadata.text(),
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
      });
      assert.ok(imported.ok, await imported.clone().text());
      const provider = await jsonOf(imported, imported.status);
      await site.trust(await ownMetadata(provider));
      return provider;
    };
    const demandSignatures = async (site: SamlWebsite, provider: Json): Promise<void> => {
      await tenant.make('PATCH', `/service-providers/${provider['id']}`, { require_signed_requests: true });
      await site.trust(await ownMetadata(provider));
    };
    const send = ({ binding, query, fields }: WebsiteRequest): Promise<Response> =>
      binding === 'redirect' ? idp.get(query) : idp.post(fields);
    const ask: Trial['ask'] = async (visitor, site, binding) => {
      const request = await visitor.ask(await site.startUrl(binding), idp.ssoUrl);
      assert.equal(request.binding, binding);
      return send(request);
    };
    /** Finishes the sign-in and posts what `changed` makes of the answer. */
    const deliver = async (
      visitor: Visitor,
      response: Response,
      changed = (xml: string) => xml,
    ): Promise<{ readonly xml: string; readonly page: string }> => {
      const started = await startSignIn(response);
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      const { xml, acsUrl, relayState } = await assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
      return { xml, page: await visitor.deliver(acsUrl, Buffer.from(changed(xml)).toString('base64'), relayState) };
    };
    const signIn = async (site: SamlWebsite, binding: Binding): Promise<string> => {
      const visitor = openVisitor();
      const { xml, page } = await deliver(visitor, await ask(visitor, site, binding));
      assertShown(page);
      return xml;
    };
    const visit: Trial['visit'] = async (site) => {
      const visitor = openVisitor();
      return (await deliver(visitor, await ask(visitor, site, 'redirect'))).page;
    };
    const assertShown = (page: string): void => {
      for (const text of kind.shows) assert.ok(page.includes(text), `expected ${text}: ${page.slice(0, 4000)}`);
    };
    const rotate = async (): Promise<void> =>
      void (await jsonOf(await tenant.call('POST', '/signing-keys', { use: 'saml', force: true }), 201));

    before(async () => {
      server = await startTestServer('sqlite', { flags: samlFlags });
      tenant = await createTestTenant(server);
      idp = await openSamlIdp(server, tenant.slug);
      const { userName: user_name, displayName: display_name, email } = person;
      const columns = { user_name, display_name, given_name: 'Zoë', family_name: 'Ångström' };
      user = await insertSamlUser(server, idp.tenant, columns, [{ value: email, primary: true }]);
      const entityId = `${tenant.baseUrl}/v1/idp/saml/metadata`;
      sites = await kind.open({ entityId, metadata: await (await fetch(entityId)).text() });
    });
    after(async () => {
      await sites?.close();
      await server?.close();
    });

    for (const signing of ['unsigned', 'signed'] as const) {
      test(`${signing} requests by ${kind.bindings.join(' and ')}, encrypted answers and plain ones`, async () => {
        const site = sites[signing];
        const provider = await introduce(site);
        const declares = signing === 'signed' && kind.declaresSigning !== false;
        assert.equal(provider['require_signed_requests'], declares, 'by its own metadata');
        if (signing === 'signed' && !declares) await demandSignatures(site, provider);
        assert.deepEqual([provider['encrypt_assertions'], (provider['encryption'] as Json)['algorithm']], [true, kind.encryption]);
        for (const binding of kind.bindings) assert.match(await signIn(site, binding), /EncryptedAssertion/);
        await tenant.make('PATCH', `/service-providers/${provider['id']}`, { encrypt_assertions: false });
        if (kind.refusesPlain !== true) assert.doesNotMatch(await signIn(site, 'redirect'), /EncryptedAssertion/);
        else await assert.rejects(signIn(site, 'redirect'), /: expected zoe/);
        await tenant.make('PATCH', `/service-providers/${provider['id']}`, { encrypt_assertions: true });
      });
    }
    test('a sign-in from our side, and a changed answer, which it refuses', async () => {
      const provider = await introduce(sites.signed);
      const url = sites.signed.unsolicitedAcsUrl;
      const acs = url === undefined ? {} : { acs: [{ url, index: 99, default: true }] };
      await tenant.make('PATCH', `/service-providers/${provider['id']}`, { idp_initiated_allowed: true, ...acs });
      const fromUs = (): Promise<Response> => idp.get(`sp=${encodeURIComponent(String(provider['entity_id']))}`);
      const arrived = await deliver(openVisitor(), await fromUs());
      assert.ok(arrived.page.includes(person.email), arrived.page.slice(0, 4000));
      const changed = (xml: string): string => xml.replace(/SignatureValue>..../, 'SignatureValue>AAAA');
      const { page } = await deliver(openVisitor(), await fromUs(), changed);
      assert.ok(!page.includes(person.email), page.slice(0, 4000));
    });
    test('two rotations of our key; a third one it has not heard of is refused until it has', async () => {
      const site = sites.signed;
      const provider = await introduce(site);
      await rotate(); // it has read the next certificate before
      await signIn(site, 'redirect');
      await site.trust(await ownMetadata(provider));
      await rotate();
      await signIn(site, 'redirect');
      await rotate();
      const visitor = openVisitor();
      const { page } = await deliver(visitor, await ask(visitor, site, 'redirect'));
      assert.ok(!page.includes(person.email), page.slice(0, 4000));
      await site.trust(await ownMetadata(provider));
      await signIn(site, 'redirect');
    });
    kind.more?.({
      server: () => server,
      tenant: () => tenant,
      introduce,
      demandSignatures,
      ask,
      visit,
      user: () => user,
      sites: () => sites,
    });
  });
}
