// Service provider libraries, unmodified, from metadata alone (design 15, "Must pass"): the provider's generated metadata is
// imported, ours is given back, then SP-initiated sign-ins, one from our side, encryption, and two rotations of our key.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import {
  assertDelivered,
  finishSignIn,
  insertSamlUser,
  openSamlIdp,
  postback,
  type SamlIdp,
  type StartedSignIn,
  samlFlags,
  startSignIn,
} from '../support/saml-idp.ts';
import { type JudgeSettings, judgeScript, type SamlJudge, startSamlJudge } from '../support/saml-judge.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Library {
  readonly name: string;
  readonly open: (settings: JudgeSettings) => Promise<SamlJudge>;
  readonly bindings: readonly ('redirect' | 'post')[];
  /** What its metadata makes of encryption. */
  readonly encryption: string;
  /** More of the signed requests it makes. */
  readonly more?: Readonly<Record<string, string>>;
}

const goSp = findJudge('saml-go-sp');
const python = findJudge('python3-saml');
const go =
  (library: string) =>
  (settings: JudgeSettings): Promise<SamlJudge> =>
    startSamlJudge(goSp ?? '', [], { ...settings, more: { library, ...settings.more } });
const python3Saml = (settings: JudgeSettings): Promise<SamlJudge> =>
  startSamlJudge(python ?? '', [judgeScript('python3-saml-sp.py')], settings);

const samlify = (settings: JudgeSettings): Promise<SamlJudge> =>
  startSamlJudge(process.execPath, [judgeScript('samlify-sp.mjs')], settings);

const libraries: readonly Library[] = [
  { name: 'samlify', open: samlify, bindings: ['redirect', 'post'], encryption: 'aes256-gcm' },
  ...(python === undefined ? [] : [{ name: 'python3-saml', open: python3Saml, bindings: ['redirect'] as const, encryption: 'aes256-gcm' }]),
  ...(goSp === undefined
    ? []
    : [
        { name: 'crewjam/saml', open: go('crewjam'), bindings: ['redirect', 'post'] as const, encryption: 'aes256-cbc' },
        {
          name: 'gosaml2',
          open: go('gosaml2'),
          bindings: ['redirect', 'post'] as const,
          encryption: 'aes256-gcm',
          more: { canonicalizer: 'exclusive' },
        },
      ]),
];
const mail = 'urn:oid:0.9.2342.19200300.100.1.3';
const acsUrl = 'https://sp.example/acs';

suite('SAML libraries, from metadata alone', () => {
  let server: TestServer;
  let tenant: Managed;
  let idp: SamlIdp;
  let user: UserId;
  before(async () => {
    server = await startTestServer('sqlite', { flags: samlFlags });
    tenant = await createTestTenant(server);
    idp = await openSamlIdp(server, tenant.slug);
    user = await insertSamlUser(server, idp.tenant, { user_name: 'zoë' }, [{ value: 'zoe@example.com', primary: true }]);
  });
  after(() => server.close());

  let made = 0;
  const introduce = async (
    library: Library,
    settings: Pick<JudgeSettings, 'sign' | 'encrypt'>,
    more = library.more,
  ): Promise<{ readonly judge: SamlJudge; readonly provider: Json; readonly refresh: () => Promise<void> }> => {
    made += 1;
    const entityId = `https://library-${made}.example/metadata`;
    const judge = await library.open({ entityId, acsUrl, keys: rsaKeys(), ...settings, ...(more === undefined ? {} : { more }) });
    const imported = await fetch(`${tenant.managementApi}/service-providers/import`, {
      method: 'POST',
      body: await judge.metadata(),
      headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
    });
    const provider = await jsonOf(imported, 201);
    const refresh = async (): Promise<void> =>
      judge.trust(await (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata/${provider['id']}`)).text());
    await refresh();
    return { judge, provider, refresh };
  };
  const ask = async (
    judge: SamlJudge,
    binding: 'redirect' | 'post',
    relayState: string,
  ): Promise<{ readonly response: Response; readonly id: string }> => {
    const { location, fields, id } = await judge.request(binding, relayState);
    return { id, response: binding === 'redirect' ? await idp.get(new URL(location).search.slice(1)) : await idp.post(fields) };
  };
  const deliver = async (started: StartedSignIn): Promise<{ readonly xml: string; readonly relayState: string | null }> => {
    await finishSignIn(server, idp.tenant, started.sessionId, user);
    return assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
  };
  const signIn = async (judge: SamlJudge, binding: 'redirect' | 'post'): Promise<string> => {
    const { response, id } = await ask(judge, binding, '/deep');
    const { xml, relayState } = await deliver(await startSignIn(response));
    assert.equal(relayState, '/deep');
    const { attributes } = await judge.consume(Buffer.from(xml).toString('base64'), id);
    assert.deepEqual([attributes[mail]].flat(), ['zoe@example.com']);
    return xml;
  };
  const rotate = async (): Promise<void> =>
    void (await jsonOf(await tenant.call('POST', '/signing-keys', { use: 'saml', force: true }), 201));

  for (const library of libraries) {
    for (const sign of [false, true]) {
      test(`${library.name}: requests ${sign ? 'signed' : 'unsigned'} by ${library.bindings.join(' and ')}`, async () => {
        const { judge, provider } = await introduce(library, { sign, encrypt: false });
        assert.equal(provider['require_signed_requests'], sign, 'by its own metadata');
        await tenant.make('PATCH', `/service-providers/${provider['id']}`, { encrypt_assertions: false });
        for (const binding of library.bindings) assert.doesNotMatch(await signIn(judge, binding), /EncryptedAssertion/);
        await judge.close();
      });
    }
    test(`${library.name}: encrypted answers, sign-in from our side, two rotations of our key, and what it must refuse`, async () => {
      const { judge, provider, refresh } = await introduce(library, { sign: true, encrypt: true });
      assert.deepEqual([provider['encrypt_assertions'], (provider['encryption'] as Json)['algorithm']], [true, library.encryption]);
      assert.match(await signIn(judge, 'redirect'), /EncryptedAssertion/);
      await tenant.make('PATCH', `/service-providers/${provider['id']}`, { idp_initiated_allowed: true });
      const started = await startSignIn(await idp.get(`sp=${encodeURIComponent(String(provider['entity_id']))}`));
      const { xml } = await deliver(started);
      await judge.consume(Buffer.from(xml).toString('base64'), '');
      await assert.rejects(
        judge.consume(Buffer.from(xml.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA')).toString('base64'), ''),
      );
      await rotate(); // it has read the next certificate before
      await signIn(judge, 'redirect');
      await refresh();
      await rotate();
      await signIn(judge, 'redirect');
      await judge.close();
    });
  }
  if (goSp !== undefined)
    test('gosaml2 as it comes canonicalises inclusively: its signed POST stays refused', async () => {
      const { judge } = await introduce(
        { name: 'gosaml2', open: go('gosaml2'), bindings: ['post'], encryption: '' },
        { sign: true, encrypt: false },
        {},
      );
      const { response } = await ask(judge, 'post', '');
      await assertRefusal(response, 'saml.signature_invalid');
      await judge.close();
    });
  if (python !== undefined)
    test('python3-saml told to sign with SHA-1 stays refused', async () => {
      const signature_algorithm = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
      const library = { name: 'python3-saml', open: python3Saml, bindings: ['redirect'] as const, encryption: '' };
      const { judge } = await introduce(library, { sign: true, encrypt: false }, { signature_algorithm });
      const { response } = await ask(judge, 'redirect', '');
      await assertRefusal(response, 'saml.signature_invalid');
      await judge.close();
    });
});
