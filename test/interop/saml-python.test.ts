// python3-lasso (the engine of mod_auth_mellon) and python3-pysaml2 as real service providers: signed requests over both
// bindings, plain and encrypted answers, any Unicode through them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { hasPythonModule, type Json, type PythonJudge, startPythonJudge } from '../support/python-judge.ts';
import { xmlText } from '../support/random-xml.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import {
  acsUrl,
  assertDelivered,
  finishSignIn,
  insertSamlUser,
  openSamlIdp,
  postback,
  type SamlIdp,
  samlFlags,
  startSignIn,
} from '../support/saml-idp.ts';
import { spMetadata } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = rsaKeys();

interface Judge {
  readonly name: string;
  /** lasso makes its request ids itself and compares them itself. */
  readonly choosesId: boolean;
  readonly start: (folder: string, entityId: string, isEncrypted: boolean) => PythonJudge;
}

const judges: Judge[] = [];
if (hasPythonModule('lasso', 'python3-lasso')) {
  judges.push({
    name: 'lasso',
    choosesId: true,
    start: (folder, _entityId, isEncrypted) => startPythonJudge('lasso-sp.py', [folder, ...(isEncrypted ? ['encrypted'] : [])]),
  });
}
if (hasPythonModule('saml2', 'python3-pysaml2')) {
  const start: Judge['start'] = (folder, entityId, isEncrypted) =>
    startPythonJudge('pysaml2-sp.py', [folder, entityId, acsUrl, 'signed', ...(isEncrypted ? ['encrypted'] : [])]);
  judges.push({ name: 'pysaml2', choosesId: false, start });
}

for (const judge of judges) {
  suite(`${judge.name} as a service provider`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    let folder: string;
    let certificate: string;
    before(async () => {
      server = await startTestServer('sqlite', { flags: samlFlags });
      idp = await openSamlIdp(server);
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-judge-'));
      const pem = await certificatePem(keys);
      certificate = pem;
      writeFileSync(join(folder, 'sp-cert.pem'), pem);
      writeFileSync(join(folder, 'sp-key.pem'), keys.privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
      writeFileSync(join(folder, 'idp-metadata.xml'), await (await fetch(`${idp.base}/v1/idp/saml/metadata`)).text());
    });
    after(async () => {
      rmSync(folder, { recursive: true, force: true });
      await server.close();
    });

    const open = async (entityId: string, fields: Json, isEncrypted = false): Promise<PythonJudge> => {
      const encryption = isEncrypted ? { encryption_key: keys.publicPem } : {};
      await idp.register({
        entity_id: entityId,
        signing_keys: [keys.publicPem],
        attribute_map: { display_name: 'displayName', user_name: 'uid' },
        ...encryption,
        ...fields,
      });
      writeFileSync(join(folder, 'sp-metadata.xml'), spMetadata(entityId, acsUrl, certificate));
      return judge.start(folder, entityId, isEncrypted);
    };
    const answerTo = async (
      sp: PythonJudge,
      user: Awaited<ReturnType<typeof insertSamlUser>>,
      binding: 'redirect' | 'post',
      more: Json = {},
    ) => {
      const { url, body, error } = await sp.ask({ do: 'request', binding, relay_state: 'state', ...more });
      assert.equal(error, undefined);
      const sent =
        binding === 'redirect'
          ? await idp.get(new URL(String(url)).search.slice(1))
          : await idp.post({ SAMLRequest: messageOf(String(body)), RelayState: 'state' });
      const started = await startSignIn(sent);
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      return (await assertDelivered(await postback(idp.base, started.sessionId, started.cookie))).xml;
    };
    const give = (sp: PythonJudge, xml: string): Promise<Json> =>
      sp.ask({ do: 'response', saml_response: Buffer.from(xml).toString('base64') });

    const ways: readonly (readonly [string, 'redirect' | 'post', boolean, Json])[] = [
      ['signed Redirect', 'redirect', false, {}],
      ['signed POST', 'post', false, {}],
      ['encrypted with AES-256-GCM', 'redirect', true, {}],
      ['encrypted with AES-256-CBC', 'redirect', true, { encryption: { algorithm: 'aes256-cbc' } }],
    ];
    for (const [what, binding, isEncrypted, fields] of ways) {
      test(`${what}: it accepts our answer, and refuses it once changed`, async () => {
        const entityId = `https://${judge.name}.example/${encodeURIComponent(what)}`;
        const user = await insertSamlUser(server, idp.tenant, { user_name: 'zoe', display_name: 'Zoë \u{1F600}' });
        const sp = await open(entityId, fields, isEncrypted);
        try {
          const xml = await answerTo(sp, user, binding);
          const changed = isEncrypted
            ? xml.replace(/(CipherValue>.{300})(.)/, (_, before, flipped) => before + (flipped === 'A' ? 'B' : 'A'))
            : xml.replace('>zoe<', '>eve<');
          assert.ok('error' in (await give(sp, changed)));
          const answer = await give(sp, await answerTo(sp, user, binding));
          assert.equal(answer['error'], undefined);
          assert.deepEqual(answer['attributes'], { displayName: ['Zoë \u{1F600}'], uid: ['zoe'] });
          assert.equal(answer['format'], 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent');
          assert.equal(answer['sp_name_qualifier'], entityId);
        } finally {
          await sp.close();
        }
      });
    }
    test('REFEDS affiliation and the roles of AWS by rules alone', async () => {
      const role = 'https://aws.amazon.com/SAML/Attributes/Role';
      const arn = 'arn:aws:iam::123456789012:';
      const affiliation = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9';
      const mappings = [
        {
          to: affiliation,
          friendly_name: 'eduPersonScopedAffiliation',
          from: 'groups',
          only: { prefix: ['uni-'] },
          strip: 'uni-',
          values: { staff: 'staff', students: 'student' },
          template: '{value}@uni.example',
        },
        {
          to: role,
          from: 'groups',
          only: { prefix: ['aws-'] },
          strip: 'aws-',
          template: `${arn}role/{value},${arn}saml-provider/{tenant.slug}`,
        },
      ];
      const user = await insertSamlUser(server, idp.tenant, { user_name: 'ruth', display_name: 'Ruth' });
      const managed = await manageRootTenant(server);
      for (const name of ['uni-staff', 'uni-alumni', 'aws-Admin', 'aws-ReadOnly']) {
        const group = await managed.make('POST', '/groups', { display_name: name });
        await managed.make('POST', `/groups/${group['id']}/members`, { user_id: user });
      }
      const sp = await open(`https://${judge.name}.example/rules`, { attribute_map: {}, mappings });
      try {
        const answer = await give(sp, await answerTo(sp, user, 'redirect'));
        assert.equal(answer['error'], undefined);
        const known = answer['attributes'] as Readonly<Record<string, unknown>>;
        // pysaml2 knows the Name and tells its friendly one.
        assert.deepEqual(known[affiliation] ?? known['eduPersonScopedAffiliation'], ['staff@uni.example']);
        assert.deepEqual(
          known[role],
          ['Admin', 'ReadOnly'].map((name) => `${arn}role/${name},${arn}saml-provider/${idp.tenant.slug}`),
        );
      } finally {
        for (const { id } of (await managed.make<{ readonly items: readonly { readonly id: string }[] }>('GET', '/groups')).items)
          await managed.make('DELETE', `/groups/${id}`);
        await sp.close();
      }
    });
    test('any Unicode in an attribute and the request id comes back equal', async () => {
      const sp = await open(`https://${judge.name}.example/é&<\u{1F600}>`, {});
      const text = xmlText.filter((value) => value.trim() === value && value !== '');
      // Its schema validator knows the names of XML 1.0's fourth edition, which end with the basic plane.
      const letter = fc.constantFrom(...'AZaz09_.-éßÿαωаяÅ一龥'.split(''));
      const id = fc.array(letter, { maxLength: 20 }).map((letters) => `_${letters.join('')}`);
      let run = 0;
      try {
        await fc.assert(
          fc.asyncProperty(text, id, async (value, name) => {
            run += 1;
            const user = await insertSamlUser(server, idp.tenant, { display_name: value });
            const answer = await give(sp, await answerTo(sp, user, 'redirect', { id: `${name}${run}` }));
            assert.equal(answer['error'], undefined);
            assert.deepEqual((answer['attributes'] as Json)['displayName'], [value]);
            if (!judge.choosesId) assert.equal(answer['in_response_to'], `${name}${run}`);
          }),
          { numRuns: judge.choosesId ? 25 : 8 },
        );
      } finally {
        await sp.close();
      }
    });
  });
}

// lasso gives the message itself, pysaml2 a page with a form around it.
function messageOf(body: string): string {
  return /name="SAMLRequest"\s+value="([^"]+)"/.exec(body)?.[1] ?? body;
}
