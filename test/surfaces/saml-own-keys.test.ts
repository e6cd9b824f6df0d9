// A service provider with keys of its own (design 15, "Keys"): what its metadata shows, what signs its answers, and rotation.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { samlXmlLimits } from '../../src/contract/limits.ts';
import { samlMetadataXmlLimits } from '../../src/contract/saml-metadata-limits.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../../src/crypto/xml/signature.ts';
import { allElements, textOf } from '../../src/crypto/xml/tree.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import {
  clientCredentialsToken,
  createTestTenant,
  createTestUser,
  type Json,
  jsonOf,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { assertDelivered, finishSignIn, openSamlIdp, postback, type SamlIdp, samlFlags, startSignIn } from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Key {
  readonly kid: string;
  readonly use: string;
  readonly state: string;
  readonly certificate: string;
  readonly created_at: string;
  readonly rotatable_at: string | null;
  readonly stale: readonly { readonly id: string; readonly name: string }[];
}
const dayMs = 86_400_000;
const responseLimits = { ...samlXmlLimits, namespaceDeclarationsMax: 500 };

for (const database of databases) {
  suite(`own keys of service providers on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let idp: SamlIdp;
    let ada: UserId;
    let made = 0;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      tenant = await createTestTenant(server);
      idp = await openSamlIdp(server, tenant.slug);
      ada = (await createTestUser(tenant, 'ada@example.com')).id as UserId;
    });
    after(() => server.close());

    const create = (fields: Json = {}): Promise<Json> => {
      made += 1;
      return tenant.make('POST', '/service-providers', {
        entity_id: `https://own-${made}.example`,
        acs: [{ url: 'https://sp.example' }],
        ...fields,
      });
    };
    const ownKeys = async ({ id }: Json): Promise<readonly Key[]> =>
      (await tenant.make<{ items: readonly Key[] }>('GET', `/service-providers/${id}/signing-keys`)).items;
    const inState = (keys: readonly Key[], state: string): Key => keys.find((key) => key.state === state) ?? assert.fail(state);
    const tenantKeys = async (): Promise<readonly Key[]> =>
      (await tenant.make<{ items: readonly Key[] }>('GET', '/signing-keys')).items.filter(({ use }) => use === 'saml');
    const rotate = ({ id }: Json, fields: Json = {}): Promise<Response> =>
      tenant.call('POST', `/service-providers/${id}/signing-keys`, fields);
    const rotateTenant = (fields: Json = {}): Promise<Response> => tenant.call('POST', '/signing-keys', { use: 'saml', ...fields });
    const plain = (pem: string): string => pem.replace(/-.*-|\s/g, '');
    const published = async (path: string): Promise<readonly string[]> => {
      const xml = Buffer.from(await (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata${path}`)).arrayBuffer());
      const reading = readXml(xml, { limits: samlMetadataXmlLimits, comments: 'refused' });
      assert.ok(reading.ok);
      return allElements(reading.root).flatMap((element) => (element.localName === 'X509Certificate' ? [textOf(element) ?? ''] : []));
    };
    const certificatesOf = (keys: readonly Key[]): readonly string[] => keys.map(({ certificate }) => plain(certificate));
    /** Which of these keys signed an answer to the provider. */
    const signerAmong = async (provider: Json, keys: readonly Key[]): Promise<readonly string[]> => {
      const started = await startSignIn(await idp.redirect(idp.request({ issuer: String(provider['entity_id']) })));
      await finishSignIn(server, idp.tenant, started.sessionId, ada);
      const { xml } = await assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
      const reading = readXml(Buffer.from(xml), { limits: responseLimits, comments: 'refused' });
      assert.ok(reading.ok);
      // The assertion's own signature is inside; the outer one is checked after taking it out of the way by its parent.
      const outer = allElements(reading.root).filter(({ localName }) => localName === 'Signature');
      assert.equal(outer.length, 1, 'signing is response');
      return keys
        .filter(({ certificate }) => verifyEnvelopedSignature(reading.root, [new X509Certificate(certificate).publicKey]).ok)
        .map(({ kid }) => kid);
    };

    test('the ring begins with a next key, signs from its first rotation, and keeps the former key for a day', async () => {
      const shared = await tenantKeys();
      const [sharedCurrent, sharedNext] = [inState(shared, 'current'), inState(shared, 'next')];
      const other = await create({ signing: 'response' });
      const provider = await create({ signing: 'response', signing_key: 'own' });
      const [born, ...rest] = await ownKeys(provider);
      assert.ok(born !== undefined && rest.length === 0);
      assert.deepEqual([born.state, born.use, born.rotatable_at], ['next', 'saml', born.created_at]);
      assert.deepEqual(await published(`/${provider['id']}`), certificatesOf([sharedCurrent, sharedNext, born]));
      assert.deepEqual(await published(''), certificatesOf([sharedCurrent, sharedNext]));
      assert.deepEqual(await published(`/${other['id']}`), certificatesOf([sharedCurrent, sharedNext]));
      assert.deepEqual(await tenantKeys().then((keys) => keys.length), 2, 'own keys are not the tenant’s');
      assert.deepEqual(await signerAmong(provider, [sharedCurrent, sharedNext, born]), [sharedCurrent.kid]);

      const first = await jsonOf<Key>(await rotate(provider), 201);
      assert.equal(first.kid, born.kid);
      const next = inState(await ownKeys(provider), 'next');
      assert.equal(Date.parse(next.rotatable_at ?? '') - Date.parse(next.created_at), 30 * dayMs);
      assert.deepEqual(await published(`/${provider['id']}`), certificatesOf([first, next, sharedCurrent]));
      assert.deepEqual(await signerAmong(provider, [sharedCurrent, sharedNext, first, next]), [first.kid]);
      assert.deepEqual(await signerAmong(other, [sharedCurrent, first]), [sharedCurrent.kid]);
      for (const { kid, certificate } of [first, next])
        assert.equal(await (await fetch(`${tenant.baseUrl}/v1/idp/saml/certificate?kid=${kid}`)).text(), certificate);

      await server.clock.advance(dayMs + 1000);
      assert.deepEqual(await published(`/${provider['id']}`), certificatesOf([first, next]));
      const day = next.rotatable_at?.slice(0, 10);
      const tooYoung = { kind: 'next_key_too_young', text: new RegExp(`^The next certificate may sign from ${day},`) };
      await assertRefusal(await rotate(provider), 'management.conflict', tooYoung);
      await server.clock.advance(29 * dayMs);
      const second = await jsonOf<Key>(await rotate(provider), 201);
      assert.equal(second.kid, next.kid);
      const third = inState(await ownKeys(provider), 'next');
      assert.deepEqual(await published(`/${provider['id']}`), certificatesOf([second, third, first]));
      assert.deepEqual(await signerAmong(provider, [first, second, third]), [second.kid]);
      const forced = await jsonOf<Key>(await rotate(provider, { force: true }), 201);
      assert.equal(forced.kid, third.kid);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=signing_key.rotated');
      assert.deepEqual(items.find((event) => event['target'] === `signing_key:${third.kid}`)?.['data'], {
        use: 'saml',
        service_provider: provider['id'],
        retired: second.kid,
        next: inState(await ownKeys(provider), 'next').kid,
        force: true,
      });
      await server.clock.advance(31 * dayMs);
      await assertRefusal(await fetch(`${tenant.baseUrl}/v1/idp/saml/certificate?kid=${first.kid}`), 'saml.certificate_not_found');
      assert.deepEqual(await signerAmong(provider, [sharedCurrent, forced]), [forced.kid]);
    });
    test('a rotation of the tenant changes nothing for a provider whose own key signs, and is not waited for', async () => {
      const provider = await create({ signing: 'response', signing_key: 'own', name: 'Own' });
      const staleNames = async (): Promise<readonly string[]> => inState(await tenantKeys(), 'next').stale.map(({ name }) => name);
      const ownStale = async (): Promise<readonly string[]> => inState(await ownKeys(provider), 'next').stale.map(({ name }) => name);
      assert.ok((await staleNames()).includes('Own'), 'the tenant’s key signs for it still');
      assert.deepEqual(await ownStale(), ['Own']);
      await published(`/${provider['id']}`);
      assert.deepEqual(await ownStale(), []);
      const own = await jsonOf<Key>(await rotate(provider), 201);
      await jsonOf(await rotateTenant({ force: true }), 201);
      assert.ok(!(await staleNames()).includes('Own'));
      assert.deepEqual(await ownStale(), ['Own']);
      assert.deepEqual(await signerAmong(provider, [own, ...(await tenantKeys())]), [own.kid]);
    });
    test('back to the key of the tenant it signs at once; own again, the ring goes on', async () => {
      const provider = await create({ signing: 'response', signing_key: 'own' });
      const own = await jsonOf<Key>(await rotate(provider), 201);
      const path = `/service-providers/${provider['id']}`;
      assert.equal((await tenant.make('PATCH', path, { signing_key: 'tenant' }))['signing_key'], 'tenant');
      const current = inState(await tenantKeys(), 'current');
      assert.deepEqual(await signerAmong(provider, [own, current]), [current.kid]);
      assert.ok(!(await published(`/${provider['id']}`)).includes(plain(own.certificate)));
      await tenant.make('PATCH', path, { signing_key: 'own' });
      assert.deepEqual(await signerAmong(provider, [own, current]), [own.kid]);
    });
    test('10 first rotations at once: one', async () => {
      const provider = await create({ signing_key: 'own' });
      const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(provider)));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      for (const answer of answers)
        if (answer.status !== 201) {
          const { kind } = await jsonOf(answer, 409);
          assert.ok(['use', 'next_key_too_young'].includes(String(kind)), String(kind));
        }
      const states = (await ownKeys(provider)).map(({ state }) => state);
      assert.deepEqual(states.toSorted(), ['current', 'next']);
    });
    test('a deleted provider takes its keys along', async () => {
      const provider = await create({ signing_key: 'own' });
      const { kid } = (await ownKeys(provider))[0] ?? assert.fail();
      await tenant.call('DELETE', `/service-providers/${provider['id']}`);
      await assertRefusal(await fetch(`${tenant.baseUrl}/v1/idp/saml/certificate?kid=${kid}`), 'saml.certificate_not_found');
    });
    test('refused: the tenant’s key signs, an unknown provider, wrong fields, too few rights, another tenant', async () => {
      const provider = await create();
      assert.deepEqual(await ownKeys(provider), []);
      await assertRefusal(await rotate(provider), 'management.conflict', { kind: 'signing_key', text: /Set "signing_key": "own" first/ });
      await assertRefusal(await rotate({ id: 'none' }), 'management.not_found');
      await assertRefusal(await tenant.call('GET', '/service-providers/none/signing-keys'), 'management.not_found');
      await assertRefusal(await rotate(provider, { force: 'yes' }), 'management.invalid_request', { kind: 'force', text: /.+/ });
      const other = await tenant.call('PATCH', `/service-providers/${provider['id']}`, { signing_key: 'mine' });
      await assertRefusal(other, 'management.invalid_request', { kind: 'signing_key', text: /tenant, own/ });
      const stranger = await createTestTenant(server);
      await assertRefusal(await stranger.call('POST', `/service-providers/${provider['id']}/signing-keys`, {}), 'management.not_found');
      const weak = managedWith(
        await clientCredentialsToken(
          tenant.baseUrl,
          tenant.adminClientId,
          tenant.adminClientSecret,
          'service-providers:write signing-keys:read',
        ),
        tenant,
      );
      const forbidden = await weak.call('POST', `/service-providers/${provider['id']}/signing-keys`, {});
      await assertRefusal(forbidden, 'management.forbidden', { text: /signing-keys:write/ });
    });
  });
}
