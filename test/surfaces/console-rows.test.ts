// Forms of the console hold no JSON (design 13, section 2): lists of objects and maps are rows, objects are their parts, keys and files are
// pasted as their vendors give them. What was typed stays when it is refused, and what is wrong is told by row.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json, Managed } from '../support/management.ts';
import { pushAccounts } from '../support/push-vendors.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';

for (const database of databases) {
  describe(`console rows on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();
    /** The path below /console that a form leads to. */
    const done = async (path: string, fields: Readonly<Record<string, string>>): Promise<string> => {
      const response = await visitor.submit(path, fields);
      assert.equal(response.status, 303, noticeOf(await response.text()));
      return (response.headers.get('location') ?? '').replace(/^.*\/console/, '');
    };
    const refused = async (path: string, fields: Readonly<Record<string, string>>): Promise<string> => {
      const response = await visitor.submit(path, fields);
      assert.equal(response.status, 400);
      return response.text();
    };
    const valueIn = (page: string, name: string): string | undefined =>
      new RegExp(`name="${name.replaceAll('.', '\\.')}"[^>]* value="([^"]*)"`).exec(page)?.[1];

    it('scopes of an API: rows that were filled in, in their order; two more to fill in', async () => {
      const fresh = await show('/resources/new');
      assert.match(fresh, /name="scopes\.0\.name"[\s\S]*name="scopes\.1\.description"/);
      assert.doesNotMatch(fresh, /\[\{|<textarea/);
      const at = await done('/resources', {
        identifier: 'https://rows.example',
        name: 'Rows',
        scopes: 'rows',
        'scopes.0.name': 'orders:read',
        'scopes.0.description': 'Read <b>orders</b>',
        'scopes.1.name': '',
        'scopes.1.description': '',
        'scopes.5.name': 'orders:write',
      });
      const scopes = async (): Promise<unknown> => (await tenant.make(`GET`, at))['scopes'];
      assert.deepEqual(await scopes(), [
        { name: 'orders:read', description: 'Read <b>orders</b>', is_default: false },
        { name: 'orders:write', is_default: false },
      ]);
      const page = await show(at);
      assert.equal(valueIn(page, 'scopes.0.description'), 'Read &#60;b&#62;orders&#60;/b&#62;');
      assert.equal(valueIn(page, 'scopes.3.name'), '');
      assert.equal(valueIn(page, 'scopes.4.name'), undefined);
      const wrong = await refused(at, { name: 'Rows', scopes: 'rows', 'scopes.0.name': 'fine', 'scopes.1.name': 'fine' });
      assert.match(noticeOf(wrong), /^Scopes: .*each scope once/);
      assert.equal(valueIn(wrong, 'scopes.1.name'), 'fine');
      assert.match(wrong, /<fieldset class="rows" id="field-scopes" aria-invalid="true" aria-describedby="field-scopes-wrong">/);
      await done(at, { name: 'Rows', scopes: 'rows' });
      assert.deepEqual(await scopes(), []);
    });

    it('a SAML application: addresses, attributes, encryption and keys without JSON, faults by row', async () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const fields = {
        entity_id: 'https://rows.sp.example',
        name: 'Rows',
        acs: 'rows',
        'acs.0.url': 'https://sp.example/first',
        'acs.1.url': 'https://sp.example/second',
        'acs.1.index': '7',
        'acs.1.default': 'yes',
        signing_keys: `${pem}\r\n\r\n${pem}`,
        signing: 'both',
        signing_key: 'tenant',
        encryption: 'parts',
        'encryption.algorithm': 'aes128-gcm',
        'encryption.key_transport': 'rsa-oaep-sha256',
        name_id_formats: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        name_id_sources: 'pairs',
        'name_id_sources.0.format': 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
        'name_id_sources.0.source': 'emails.primary',
        attribute_map: 'pairs',
        'attribute_map.0.from': 'emails',
        'attribute_map.0.to': 'mail',
        'attribute_map.1.from': 'name.given_name',
        'attribute_map.1.to': 'givenName',
        access_policy: 'everyone',
        enabled: 'on',
      };
      const half = await refused('/service-providers', { ...fields, 'attribute_map.1.to': '' });
      assert.match(noticeOf(half), /^Attributes: Row 2: both field of the person and attribute name are needed\.$/);
      assert.equal(valueIn(half, 'attribute_map.1.from'), 'name.given_name');
      const twice = await refused('/service-providers', { ...fields, 'attribute_map.1.from': 'emails' });
      assert.match(noticeOf(twice), /^Attributes: Row 2: emails is there twice\.$/);
      const unknown = await refused('/service-providers', { ...fields, 'attribute_map.1.from': 'shoe_size' });
      assert.match(noticeOf(unknown), /^Attributes: Row 2: &#34;shoe_size&#34; is no user field\./);
      const plain = await refused('/service-providers', { ...fields, 'acs.1.url': 'http://sp.example/acs' });
      assert.match(noticeOf(plain), /^Assertion consumer services: Row 2: Each url is https/);
      const rest = await refused('/service-providers', { ...fields, signing_keys: `${pem}\nnot a key` });
      assert.match(noticeOf(rest), /^Signing keys: This is not one PEM certificate or public key\./);
      const at = (await done('/service-providers', fields)).replace(/\/handover$/, '');
      const made = await tenant.make('GET', at);
      assert.deepEqual(made['acs'], [
        { url: 'https://sp.example/first', index: 0, default: false },
        { url: 'https://sp.example/second', index: 7, default: true },
      ]);
      assert.deepEqual(made['attribute_map'], { emails: 'mail', 'name.given_name': 'givenName' });
      assert.deepEqual(made['encryption'], { algorithm: 'aes128-gcm', key_transport: 'rsa-oaep-sha256' });
      assert.deepEqual(made['signing_keys'], [pem.trim(), pem.trim()]);
      assert.deepEqual(made['name_id_sources'], { 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress': 'emails.primary' });
      const page = await show(at);
      assert.equal(valueIn(page, 'attribute_map.0.to'), 'mail');
      assert.match(page, /<option value="aes128-gcm" selected>/);
      assert.match(page, /name="acs\.1\.default"[^>]* checked/);
      assert.match(page, /<datalist id="field-attribute_map-from-names">/);
    });

    it('another provider: its claims and acr values are rows; a field that is none is refused by row', async () => {
      const fields = {
        ...{ alias: 'rows', kind: 'oidc', name: 'Rows', issuer: 'https://rows.example', client_id: 'rows', client_secret: 'secret' },
        ...{
          attribute_map: 'pairs',
          'attribute_map.0.from': 'https://rows.example/department',
          'attribute_map.0.to': 'enterprise.department',
        },
        ...{ 'attribute_map.1.from': 'job', 'attribute_map.1.to': 'title' },
        ...{ acr_map: 'pairs', 'acr_map.0.from': 'urn:gold', 'acr_map.0.to': 'phr' },
        enabled: 'on',
      };
      const fresh = await show('/identity-providers/by-hand?preset=oidc');
      assert.match(fresh, /<datalist id="field-attribute_map-to-names">.*<option value="enterprise.department">/);
      assert.doesNotMatch(fresh, /<textarea name="(?:attribute|acr)_map"/);
      const unknown = await refused('/identity-providers', { ...fields, 'attribute_map.1.to': 'shoe_size' });
      assert.match(noticeOf(unknown), /^Attributes of new accounts: Row 2: .*shoe_size/);
      assert.equal(valueIn(unknown, 'attribute_map.0.to'), 'enterprise.department');
      const half = await refused('/identity-providers', { ...fields, 'acr_map.0.to': '' });
      assert.match(noticeOf(half), /^What its acr values are worth: Row 1: both its acr and counts as are needed\./);
      const forged = await refused('/identity-providers', { ...fields, 'acr_map.0.to': 'best' });
      assert.match(noticeOf(forged), /^What its acr values are worth: .*best/);
      const at = await done('/identity-providers', fields);
      const maps = async (): Promise<unknown> => {
        const { attribute_map, acr_map } = await tenant.make('GET', at);
        return { attribute_map, acr_map };
      };
      const attributes = { 'https://rows.example/department': 'enterprise.department', job: 'title' };
      assert.deepEqual(await maps(), { attribute_map: attributes, acr_map: { 'urn:gold': 'phr' } });
      const page = await show(at);
      assert.equal(valueIn(page, 'attribute_map.1.from'), 'job');
      assert.match(page, /name="acr_map\.0\.to"[^>]*>.*?<option value="phr" selected>/);
      const { alias: _alias, kind: _kind, ...kept } = fields;
      await done(at, { ...kept, 'attribute_map.1.from': '', 'attribute_map.1.to': '', 'acr_map.0.from': '', 'acr_map.0.to': '' });
      assert.deepEqual(await maps(), {
        attribute_map: { 'https://rows.example/department': 'enterprise.department' },
        acr_map: {},
      });
    });

    it('keys of a client are pasted: a set, or one key; what is no key says so at the field', async () => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one' };
      const { client_id: id } = await tenant.make('POST', '/clients', {
        name: 'Keys',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [key] },
      });
      const at = `/clients/${String(id)}/credentials`;
      const typed = async (): Promise<Record<string, string>> => {
        const page = await show(at);
        const texts = [...page.matchAll(/<textarea name="([^"]+)"[^>]*>\n([^<]*)</g)].map(([, name, value]) => [
          name!,
          value!.replaceAll('&#34;', '"'),
        ]);
        const inputs = [...page.matchAll(/<input type="(?:text|number)" name="([^"]+)"[^>]* value="([^"]*)"/g)].map(([, name, value]) => [
          name!,
          value!,
        ]);
        const selects = [...page.matchAll(/<select name="([^"]+)".*?<\/select>/gs)].map(([all, name]) => [
          name!,
          /value="([^"]*)" selected/.exec(all)?.[1] ?? '',
        ]);
        return Object.fromEntries([...texts, ...inputs, ...selects]);
      };
      await done(at, { ...(await typed()), jwks: JSON.stringify({ ...key, kid: 'two' }) });
      const { jwks } = await tenant.make<Json & { jwks: { keys: readonly Json[] } }>('GET', `/clients/${String(id)}`);
      assert.deepEqual(
        jwks.keys.map(({ kid }) => kid),
        ['two'],
      );
      const cut = await refused(at, { ...(await typed()), jwks: '{"keys": [' });
      assert.match(noticeOf(cut), /^Its public keys: This is not the whole file: paste it from its first \{ to its last \}\.$/);
      const empty = await refused(at, { ...(await typed()), jwks: '{"keys": []}' });
      assert.match(noticeOf(empty), /^Its public keys: /);
    });

    it('app links are rows; credentials are parts that stay while nothing is typed, and go when that is ticked', async () => {
      const print = Array.from({ length: 32 }, () => 'AB').join(':');
      const other = Array.from({ length: 32 }, () => 'CD').join(':');
      const settings = async (): Promise<{ app_links: { android: unknown }; attestation: { play_integrity: unknown } }> =>
        tenant.make('GET', '/settings');
      await done('/settings/phones', {
        section: 'links',
        'app_links.android': 'rows',
        'app_links.android.0.package': 'com.example.app',
        'app_links.android.0.sha256_cert_fingerprints': `${print}  ${other}`,
      });
      assert.deepEqual((await settings()).app_links.android, [{ package: 'com.example.app', sha256_cert_fingerprints: [print, other] }]);
      const shown = await show('/settings/phones');
      assert.equal(valueIn(shown, 'app_links.android.0.sha256_cert_fingerprints'), `${print} ${other}`);
      const { apns, fcm } = pushAccounts();
      const of = async (vendor: string): Promise<string | undefined> =>
        (await tenant.make<{ providers: readonly Record<string, string>[] }>('GET', '/push')).providers.find(
          ({ provider }) => provider === vendor,
        )?.['credentials'];
      const parts = Object.fromEntries(Object.entries(apns).map(([name, value]) => [`push.apns.${name}`, String(value)]));
      await done('/settings/phones', { section: 'push', ...parts, 'push.apns': 'secret-parts', 'push.fcm': JSON.stringify(fcm, null, 2) });
      assert.deepEqual([await of('apns'), await of('fcm')], ['tenant', 'tenant']);
      const page = await show('/settings/phones');
      assert.ok(!page.includes(apns.key_id) && !page.includes('BEGIN PRIVATE KEY'));
      await done('/settings/phones', {
        section: 'push',
        'push.apns': 'secret-parts',
        'push.apns.key_id': '',
        'push.apns.environment': '',
        'push.fcm': '',
      });
      assert.deepEqual([await of('apns'), await of('fcm')], ['tenant', 'tenant']);
      const half = await refused('/settings/phones', { section: 'push', 'push.apns': 'secret-parts', 'push.apns.key_id': 'half' });
      assert.match(noticeOf(half), /^Apple: /);
      assert.match(
        noticeOf(await refused('/settings/phones', { section: 'push', 'push.fcm': '{"project_id":' })),
        /^Firebase: This is not the whole file/,
      );
      await done('/settings/phones', {
        section: 'push',
        'push.apns': 'secret-parts',
        'push.apns.remove': 'yes',
        'push.fcm': '',
        'push.fcm.remove': 'yes',
      });
      assert.deepEqual([await of('apns'), await of('fcm')], ['none', 'none']);
    });
  });
}
