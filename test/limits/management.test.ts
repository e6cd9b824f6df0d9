// Limits of the Management and system APIs at n and n+1, over HTTP: n is taken, n+1 is a 400 that names the field.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  audiencesPerIssuerMax,
  brandCornerPixelsMax,
  claimsPerWorkloadMax,
  countMax,
  emailCharsMax,
  emailsPerUserMax,
  exchangeRowsMax,
  jwksKeysMax,
  lifetimeSecondsMax,
  listedNamesMax,
  listLimitDefault,
  listLimitMax,
  nameCharsMax,
  pinAttemptsMax,
  pinDigitsMax,
  pinFailuresPerDayMax,
  pinLifetimeSecondsMax,
  profileCharsMax,
  pushKeyCharsMax,
  requestIdCharsMax,
  samlAcsIndexMax,
  samlAcsPerProviderMax,
  samlAttributeNameCharsMax,
  samlEntityIdCharsMax,
  samlKeyPemCharsMax,
  samlRelayStateBytesMax,
  samlRelayStatesPerProviderMax,
  samlSigningKeysPerProviderMax,
  scopeNameCharsMax,
  scopesPerListMax,
  servedResourcesMax,
  statisticsCountMax,
  textCharsMax,
  urisPerListMax,
  urlCharsMax,
  workloadLifetimeSecondsMax,
  workloadsPerClientMax,
} from '../../src/contract/limits.ts';
import { samlMetadataXmlLimits } from '../../src/contract/saml-metadata-limits.ts';
import { databases } from '../support/databases.ts';
import { callJson, createTestTenant, type Managed } from '../support/management.ts';
import { pushAccounts } from '../support/push-vendors.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

const fcmAccount = pushAccounts().fcm;
let made = 0;
const fresh = (): string => {
  made += 1;
  return `n${made}`;
};
/** `start`, filled up to a length with a different text each time. */
const upTo = (length: number, start: string): string => {
  const unique = `${start}${fresh()}-`;
  return unique + 'x'.repeat(length - unique.length);
};
const times = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, index) => make(index));

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const publicPem = rsaKeys().publicPem;
const client = (fields: object) => ({
  name: 'Client',
  type: 'confidential',
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: ['https://client.example/callback'],
  grant_types: ['authorization_code'],
  scopes: ['openid'],
  ...fields,
});
const resource = (fields: object) => ({ identifier: `https://api.example/${fresh()}`, name: 'API', ...fields });
const workloadIssuer = (fields: object) => ({ name: 'Platform', issuer: `https://ci.example/${fresh()}`, ...fields });
const user = (fields: object) => ({ user_name: fresh(), ...fields });
const provider = (fields: object) => ({ entity_id: `https://sp.example/${fresh()}`, acs: [{ url: 'https://sp.example/acs' }], ...fields });
const longEmail = (length: number): string => `${upTo(64, '')}@${'d'.repeat(length - 64 - 1 - 8)}.example`;

interface Limit {
  readonly name: string;
  readonly max: number;
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly field: string;
  /** A body that has exactly `size` of what is limited. */
  readonly body: (size: number) => object;
}

const post = (path: string, name: string, max: number, field: string, body: Limit['body']): Limit => ({
  name,
  max,
  method: 'POST',
  path,
  field,
  body,
});
const settings = (name: string, max: number, field: string, body: Limit['body']): Limit => ({
  name,
  max,
  method: 'PATCH',
  path: '/settings',
  field,
  body,
});

// biome-ignore format: a table, one row a line
const limits: readonly Limit[] = [
  post('/clients', 'nameCharsMax', nameCharsMax, 'name', (size) => client({ name: upTo(size, '') })),
  post('/resources', 'nameCharsMax', nameCharsMax, 'name', (size) => resource({ name: upTo(size, '') })),
  post('/service-providers', 'nameCharsMax', nameCharsMax, 'name', (size) => provider({ name: upTo(size, '') })),
  post('/clients', 'urlCharsMax', urlCharsMax, 'redirect_uris', (size) => client({ redirect_uris: [upTo(size, 'https://client.example/')] })),
  post('/resources', 'urlCharsMax', urlCharsMax, 'identifier', (size) => resource({ identifier: upTo(size, 'https://api.example/') })),
  post('/service-providers', 'urlCharsMax', urlCharsMax, 'acs', (size) => provider({ acs: [{ url: upTo(size, 'https://sp.example/') }] })),
  post('/clients', 'urisPerListMax', urisPerListMax, 'redirect_uris', (size) => client({ redirect_uris: times(size, (at) => `https://client.example/${at}`) })),
  post('/clients', 'servedResourcesMax', servedResourcesMax, 'serves', (size) => client({ serves: times(size, (at) => `https://api.example/${at}`) })),
  post('/clients', 'exchangeRowsMax', exchangeRowsMax, 'exchange', (size) => client({ exchange: times(size, (at) => ({ resource: `https://api.example/${at}`, scopes: ['a'] })) })),
  post('/clients', 'workloadsPerClientMax', workloadsPerClientMax, 'workloads', (size) => client({ workloads: times(size, (at) => ({ issuer: 'https://ci.example', subject: `${at}` })) })),
  post('/clients', 'claimsPerWorkloadMax', claimsPerWorkloadMax, 'workloads', (size) => client({ workloads: [{ issuer: 'https://ci.example', claims: Object.fromEntries(times(size, (at) => [`c${at}`, 'x'])) }] })),
  post('/workload-issuers', 'audiencesPerIssuerMax', audiencesPerIssuerMax, 'audiences', (size) => workloadIssuer({ audiences: times(size, (at) => `https://api.example/${at}`) })),
  post('/workload-issuers', 'workloadLifetimeSecondsMax', workloadLifetimeSecondsMax, 'lifetime_seconds_max', (size) => workloadIssuer({ lifetime_seconds_max: size })),
  post('/clients', 'jwksKeysMax', jwksKeysMax, 'jwks.keys', (size) => client({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: times(size, (at) => ({ ...jwk, kid: `k${at}` })) } })),
  post('/resources', 'scopesPerListMax', scopesPerListMax, 'scopes', (size) => resource({ scopes: times(size, (at) => ({ name: `scope:${at}` })) })),
  post('/resources', 'scopeNameCharsMax', scopeNameCharsMax, 'scopes', (size) => resource({ scopes: [{ name: 's'.repeat(size) }] })),
  post('/resources', 'textCharsMax', textCharsMax, 'scopes', (size) => resource({ scopes: [{ name: 's', description: 'd'.repeat(size) }] })),
  post('/resources', 'lifetimeSecondsMax', lifetimeSecondsMax, 'access_token_lifetime_seconds', (size) => resource({ access_token_lifetime_seconds: size })),
  post('/users', 'profileCharsMax', profileCharsMax, 'display_name', (size) => user({ display_name: 'd'.repeat(size) })),
  post('/users', 'profileCharsMax', profileCharsMax, 'user_name', (size) => user({ user_name: upTo(size, '') })),
  post('/users', 'emailCharsMax', emailCharsMax, 'emails', (size) => user({ emails: [{ value: longEmail(size), primary: true }] })),
  post('/users', 'emailsPerUserMax', emailsPerUserMax, 'emails', (size) => { const person = fresh(); return user({ emails: times(size, (at) => ({ value: `${person}-${at}@example.com`, primary: at === 0 })) }); }),
  settings('lifetimeSecondsMax', lifetimeSecondsMax, 'par_lifetime_seconds', (size) => ({ par_lifetime_seconds: size })),
  settings('countMax', countMax, 'pin.sends_per_hour_max', (size) => ({ pin: { sends_per_hour_max: size } })),
  settings('pinDigitsMax', pinDigitsMax, 'pin.length', (size) => ({ pin: { length: size } })),
  settings('pinAttemptsMax', pinAttemptsMax, 'pin.attempts_max', (size) => ({ pin: { attempts_max: size } })),
  settings('pinFailuresPerDayMax', pinFailuresPerDayMax, 'pin.failures_per_day_max', (size) => ({ pin: { failures_per_day_max: size } })),
  settings('pinLifetimeSecondsMax', pinLifetimeSecondsMax, 'pin.lifetime_seconds', (size) => ({ pin: { lifetime_seconds: size } })),
  settings('listedNamesMax', listedNamesMax, 'attestation.apple.app_ids', (size) => ({ attestation: { apple: { app_ids: times(size, (at) => `TEAM.app${at}`) } } })),
  settings('textCharsMax', textCharsMax, 'attestation.apple.app_ids', (size) => ({ attestation: { apple: { app_ids: ['a'.repeat(size)] } } })),
  settings('pushKeyCharsMax', pushKeyCharsMax, 'push.fcm.private_key', (size) => ({ push: { fcm: { ...fcmAccount, private_key: fcmAccount.private_key.padEnd(size, '\n') } } })),
  settings('brandCornerPixelsMax', brandCornerPixelsMax, 'branding.corner_radius', (size) => ({ branding: { corner_radius: size } })),
  post('/service-providers', 'samlEntityIdCharsMax', samlEntityIdCharsMax, 'entity_id', (size) => provider({ entity_id: upTo(size, 'https://sp.example/') })),
  post('/service-providers', 'samlAcsPerProviderMax', samlAcsPerProviderMax, 'acs', (size) => provider({ acs: times(size, (at) => ({ url: `https://sp.example/${at}` })) })),
  post('/service-providers', 'samlAcsIndexMax', samlAcsIndexMax, 'acs', (size) => provider({ acs: [{ url: 'https://sp.example/acs', index: size }] })),
  post('/service-providers', 'samlSigningKeysPerProviderMax', samlSigningKeysPerProviderMax, 'signing_keys', (size) => provider({ signing_keys: times(size, () => publicPem) })),
  post('/service-providers', 'samlKeyPemCharsMax', samlKeyPemCharsMax, 'encryption_key', (size) => provider({ encryption_key: publicPem.trimEnd().padEnd(size, '\n') })),
  post('/service-providers', 'samlRelayStatesPerProviderMax', samlRelayStatesPerProviderMax, 'relay_states', (size) => provider({ relay_states: times(size, (at) => `/${at}`) })),
  post('/service-providers', 'samlRelayStateBytesMax', samlRelayStateBytesMax, 'relay_states', (size) => provider({ relay_states: [`${'é'.repeat(2)}${'r'.repeat(size - 4)}`] })),
  post('/service-providers', 'samlAttributeNameCharsMax', samlAttributeNameCharsMax, 'attribute_map', (size) => provider({ attribute_map: { user_name: 'a'.repeat(size) } })),
];

for (const database of databases) {
  describe(`limits of the Management API on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server, { settings: { rate_limits: { login_starts_per_ip: roomyRate } } });
    });
    after(() => server.close());

    for (const { name, max, method, path, field, body } of limits)
      it(`${name}: ${max} of ${field} at ${method} ${path}, and one more`, async () => {
        const taken = await tenant.call(method, path, body(max));
        assert.ok(taken.ok, `${taken.status} ${await taken.text()}`);
        await assertRefusal(await tenant.call(method, path, body(max + 1)), 'management.invalid_request', { kind: field, text: /./ });
      });

    it('listLimitMax and listLimitDefault: pages of 200, not of 201; 50 when nothing is asked', async () => {
      for (let count = 0; count <= listLimitDefault; count += 1) await tenant.make('POST', '/resources', resource({}));
      const sizeOf = async (query: string): Promise<number> =>
        (await tenant.make<{ items: unknown[] }>('GET', `/resources${query}`)).items.length;
      assert.equal(await sizeOf(''), listLimitDefault);
      assert.ok((await sizeOf(`?limit=${listLimitMax}`)) > listLimitDefault);
      for (const limit of [listLimitMax + 1, 0])
        await assertRefusal(await tenant.call('GET', `/resources?limit=${limit}`), 'management.invalid_request', {
          kind: 'limit',
          text: /./,
        });
    });

    it('textCharsMax and emailCharsMax of queries', async () => {
      for (const [path, name, max] of [
        ['/events', 'type', textCharsMax],
        ['/users', 'search', emailCharsMax],
      ] as const) {
        assert.equal((await tenant.call('GET', `${path}?${name}=${'t'.repeat(max)}`)).status, 200);
        await assertRefusal(await tenant.call('GET', `${path}?${name}=${'t'.repeat(max + 1)}`), 'management.invalid_request', {
          kind: name,
          text: /./,
        });
      }
    });

    it('requestIdCharsMax and urlCharsMax at the system API; a longer request id is one nobody has', async () => {
      const system = (method: string, path: string, body?: unknown) =>
        callJson(`${server.url}/v1/system${path}`, operatorToken, method, body);
      assert.equal((await system('GET', `/outbox?after=${'a'.repeat(requestIdCharsMax)}`)).status, 200);
      await assertRefusal(await system('GET', `/outbox?after=${'a'.repeat(requestIdCharsMax + 1)}`), 'management.invalid_request', {
        kind: 'after',
        text: /./,
      });
      for (const length of [requestIdCharsMax, requestIdCharsMax + 1])
        await assertRefusal(await tenant.call('GET', `/events/${'r'.repeat(length)}`), 'management.not_found');
      const host = (length: number): string => `https://${'a.'.repeat((length - 8) / 2 - 2)}${'b'.repeat(4 + (length % 2))}`;
      assert.equal(host(urlCharsMax + 1).length, urlCharsMax + 1);
      await assertRefusal(await system('PATCH', `/tenants/${tenant.id}`, { domain: host(urlCharsMax + 1) }), 'management.invalid_request', {
        kind: 'domain',
        text: /./,
      });
    });

    it('samlMetadataXmlLimits: metadata of so many bytes, elements and levels, and one more', async () => {
      const metadata = (inside: string): string =>
        `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://sp.example/${fresh()}"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
        `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example/acs" index="0"/></md:SPSSODescriptor>${inside}</md:EntityDescriptor>`;
      const send = (xml: string) =>
        fetch(`${tenant.managementApi}/service-providers/import`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
          body: xml,
        });
      const open = '<md:Extensions xmlns:x="urn:x">';
      const filled = (bytes: number): string =>
        metadata(`<md:Extensions>${' '.repeat(bytes - metadata('<md:Extensions></md:Extensions>').length)}</md:Extensions>`);
      const elements = (count: number): string => metadata(`${open}${'<x:e/>'.repeat(count - 4)}</md:Extensions>`);
      const deep = (depth: number): string => metadata(`${open}${'<x:e>'.repeat(depth - 2)}${'</x:e>'.repeat(depth - 2)}</md:Extensions>`);
      for (const [what, max, make] of [
        ['bytes', samlMetadataXmlLimits.bytesMax, filled],
        ['elements', samlMetadataXmlLimits.elementsMax, elements],
        ['depth', samlMetadataXmlLimits.depthMax, deep],
      ] as const) {
        const taken = await send(make(max));
        assert.equal(taken.status, 201, `${max} ${what}: ${await taken.text()}`);
        const refused = await send(make(max + 1));
        assert.equal(refused.status, 400, `${max + 1} ${what}`);
      }
    });

    it('statisticsCountMax: counted up to it', async () => {
      const own = await createTestTenant(server);
      const insert = (from: number, to: number): Promise<unknown> =>
        server.gatehouse.services.database.write(own.id as never, async (queries) => {
          for (let start = from; start < to; start += 500) {
            const rows = times(Math.min(500, to - start), (at) => ({
              tenant_id: own.id,
              id: `g${start + at}`,
              display_name: `g${start + at}`,
              display_name_key: `g${start + at}`,
              origin: 'console',
              version: 1,
              created_at: 0,
              updated_at: 0,
            }));
            await queries
              .insertInto('groups')
              .values(rows as never)
              .execute(); // nullable columns left out
          }
        });
      const counted = async (): Promise<number> =>
        (await own.make<{ directory: { groups: number } }>('GET', '/statistics')).directory.groups;
      await insert(0, statisticsCountMax - 1);
      assert.equal(await counted(), statisticsCountMax - 1);
      await insert(statisticsCountMax - 1, statisticsCountMax + 1);
      assert.equal(await counted(), statisticsCountMax);
    });
  });
}
