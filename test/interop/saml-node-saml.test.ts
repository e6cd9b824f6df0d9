// @node-saml/node-saml as a real service provider: plain, signed over both bindings, encrypted; and any Unicode through it.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import fc from 'fast-check';
import { isNcName } from '../../src/crypto/xml/characters.ts';
import { anyCharacter } from '../support/any-character.ts';
import { databases } from '../support/databases.ts';
import { xmlText } from '../support/random-xml.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import {
  assertDelivered,
  finishSignIn,
  insertSamlUser,
  openSamlIdp,
  postback,
  type SamlIdp,
  samlFlags,
  startSignIn,
} from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = rsaKeys();
const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

for (const database of databases) {
  suite(`node-saml on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    let idpCert: string;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      idpCert = await (await fetch(`${idp.base}/v1/idp/saml/certificate`)).text();
    });
    after(() => server.close());

    const providerOf = (issuer: string, config: Partial<SamlConfig> = {}): SAML =>
      new SAML({
        issuer,
        idpCert,
        entryPoint: idp.ssoUrl,
        callbackUrl: 'https://sp.example/acs',
        audience: issuer,
        idpIssuer: `${idp.base}/v1/idp/saml/metadata`,
        identifierFormat: persistent,
        validateInResponseTo: ValidateInResponseTo.always,
        wantAssertionsSigned: true,
        wantAuthnResponseSigned: true,
        signatureAlgorithm: 'sha256',
        digestAlgorithm: 'sha256',
        acceptedClockSkewMs: 0,
        ...config,
      });
    const ask = async (sp: SAML, relayState: string, binding: 'redirect' | 'post'): Promise<Response> => {
      if (binding === 'redirect') return idp.get(new URL(await sp.getAuthorizeUrlAsync(relayState, undefined, {})).search.slice(1));
      const html = await sp.getAuthorizeFormAsync(relayState);
      const xml = /name="SAMLRequest" value="([^"]+)"/.exec(html)?.[1] ?? assert.fail(html);
      return idp.post({ SAMLRequest: xml, RelayState: relayState });
    };
    const signIn = async (sp: SAML, user: Awaited<ReturnType<typeof insertSamlUser>>, relayState: string, binding: 'redirect' | 'post') => {
      const started = await startSignIn(await ask(sp, relayState, binding));
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      const delivered = await assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
      assert.equal(delivered.relayState ?? '', relayState); // it sends none for an empty one
      const { profile } = await sp.validatePostResponseAsync({ SAMLResponse: Buffer.from(delivered.xml).toString('base64') });
      assert.ok(profile);
      return profile;
    };

    const configurations: readonly (readonly [string, Readonly<Record<string, unknown>>, Partial<SamlConfig>, 'redirect' | 'post'])[] = [
      ['plain, as it comes', {}, {}, 'redirect'],
      ['plain by POST', {}, { authnRequestBinding: 'HTTP-POST', skipRequestCompression: true }, 'post'],
      ['signed Redirect', { signing_keys: [keys.publicPem] }, { privateKey }, 'redirect'],
      [
        'signed POST',
        { signing_keys: [keys.publicPem] },
        { privateKey, authnRequestBinding: 'HTTP-POST', skipRequestCompression: true },
        'post',
      ],
      [
        'signed with SHA-512',
        { signing_keys: [keys.publicPem] },
        { privateKey, signatureAlgorithm: 'sha512', digestAlgorithm: 'sha512' },
        'redirect',
      ],
      ['encrypted', { encryption_key: keys.publicPem }, { decryptionPvk: privateKey }, 'redirect'],
      [
        'encrypted, CBC',
        { encryption_key: keys.publicPem, encryption: { algorithm: 'aes256-cbc' } },
        { decryptionPvk: privateKey },
        'redirect',
      ],
      [
        'signed and encrypted',
        { signing_keys: [keys.publicPem], encryption_key: keys.publicPem },
        { privateKey, decryptionPvk: privateKey },
        'redirect',
      ],
      ['only the assertion signed', { signing: 'assertion' }, { wantAuthnResponseSigned: false }, 'redirect'],
      ['only the response signed', { signing: 'response' }, { wantAssertionsSigned: false }, 'redirect'],
    ];
    for (const [what, fields, config, binding] of configurations) {
      test(what, async () => {
        const issuer = `https://sp.example/${encodeURIComponent(what)}`;
        await idp.register({ entity_id: issuer, attribute_map: { user_name: 'uid', emails: 'mail' }, ...fields });
        const user = await insertSamlUser(server, idp.tenant, { user_name: 'zoë' }, [{ value: 'zoe@example.com', primary: true }]);
        const profile = await signIn(providerOf(issuer, config), user, '/after?a=1&b=2', binding);
        assert.equal(profile['uid'], 'zoë');
        assert.equal(profile['mail'], 'zoe@example.com');
        assert.equal(profile.nameIDFormat, persistent);
        assert.equal(profile.issuer, `${idp.base}/v1/idp/saml/metadata`);
      });
    }
    test('it refuses our answer once changed, given twice, or for another provider', async () => {
      await idp.register({ entity_id: 'https://careful.example', attribute_map: { user_name: 'uid' } });
      const user = await insertSamlUser(server, idp.tenant, { user_name: 'mallory' });
      const sp = providerOf('https://careful.example');
      const started = await startSignIn(await ask(sp, '', 'redirect'));
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      const { xml } = await assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
      const give = (to: SAML, text: string) => to.validatePostResponseAsync({ SAMLResponse: Buffer.from(text).toString('base64') });
      await assert.rejects(give(sp, xml.replace('>mallory<', '>admin<')));
      await assert.rejects(give(providerOf('https://other.example', { validateInResponseTo: ValidateInResponseTo.never }), xml));
      await give(providerOf('https://careful.example', { validateInResponseTo: ValidateInResponseTo.never }), xml);
    });
    test('any Unicode in attributes, entityID, request id and RelayState comes back equal', async () => {
      const text = xmlText.filter((value) => value.trim() === value && value !== '' && !/[\t\r\n]/.test(value));
      const id = fc
        .string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
        .map((value) => [...'_'].concat([...value].filter((character) => isNcName(`_${character}`))).join(''));
      let run = 0;
      await fc.assert(
        fc.asyncProperty(text, text, id, xmlText, async (value, name, requestId, relayState) => {
          run += 1;
          const issuer = `${name}${run}`;
          await idp.register({ entity_id: issuer, attribute_map: { display_name: 'displayName' } });
          const user = await insertSamlUser(server, idp.tenant, { display_name: value });
          const sp = providerOf(issuer, { generateUniqueId: () => `${requestId}${run}` });
          const profile = await signIn(sp, user, relayState, 'redirect');
          assert.equal(profile['displayName'], value);
          assert.equal(profile['spNameQualifier'], issuer);
          assert.equal(profile['inResponseTo'], `${requestId}${run}`);
        }),
        { numRuns: 30 },
      );
    });
  });
}
