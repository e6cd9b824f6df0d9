// Limits of tenant names at n and n+1, over HTTP: a look-up is seen by what it takes from the address's share of them.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { hostBytesMax, tenantLookUpsPerSecond, unknownTenantNameBytesMax, unknownTenantNamesMax } from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createUnknownNames } from '../../src/storage/registry/unknown-names.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`tenant names on ${database}`, () => {
    let nowMs = Date.now();
    const clock: TestClock = {
      nowMs: () => nowMs,
      advance: async (ms) => {
        nowMs += ms;
      },
    };
    let server: TestServer;
    let known: Managed;
    before(async () => {
      server = await startTestServer(database, { clock });
      known = await createTestTenant(server);
    });
    after(() => server.close());
    afterEach(() => clock.advance(2000)); // whatever a test took is there again

    let made = 0;
    const bySlug = (slug: string): Promise<Response> => fetch(`${server.url}/t/${slug}/v1/idp/oidc/jwks`);
    const unknownSlug = (): string => {
      made += 1;
      return `nobody-${made}`;
    };
    const byHost = (host: string): Promise<Response> =>
      new Promise((resolve, reject) => {
        const sent = request(`${server.url}/v1/idp/oidc/jwks`, { headers: { host }, agent: false }, (response) => {
          const headers = new Headers(response.headers as Record<string, string>);
          response
            .toArray()
            .then((chunks) => resolve(new Response(Buffer.concat(chunks), { status: response.statusCode!, headers })), reject);
        });
        sent.on('error', reject).end();
      });
    const takeAll = async (): Promise<void> => {
      for (let turn = 0; turn < tenantLookUpsPerSecond; turn += 1) await assertRefusal(await bySlug(unknownSlug()), 'oauth.not_found');
    };
    const assertSpent = async (): Promise<void> => {
      const response = await bySlug(unknownSlug());
      assert.equal(response.headers.get('retry-after'), '1');
      await assertRefusal(response, 'oauth.rate_limited', { fields: { retry_after_seconds: 1 } });
    };

    it('7.19 oauth.rate_limited: tenantLookUpsPerSecond unknown names of an address are looked up, one more is not', async () => {
      await takeAll();
      await assertSpent();
    });
    it('a twentieth of a second later one more is', async () => {
      await takeAll();
      await clock.advance(1000 / tenantLookUpsPerSecond);
      await assertRefusal(await bySlug(unknownSlug()), 'oauth.not_found');
      await assertSpent();
    });
    it('an unknown name asked for again, and a known one, is answered all the same', async () => {
      const slug = unknownSlug();
      assert.equal((await bySlug(known.slug)).status, 200);
      await assertRefusal(await bySlug(slug), 'oauth.not_found');
      for (let turn = 1; turn < tenantLookUpsPerSecond; turn += 1) await bySlug(unknownSlug());
      await assertSpent();
      await assertRefusal(await bySlug(slug), 'oauth.not_found');
      assert.equal((await bySlug(known.slug)).status, 200);
    });
    it('known names take nothing from the share', async () => {
      for (let turn = 0; turn < tenantLookUpsPerSecond + 1; turn += 1) {
        server.gatehouse.services.cache.forget(known.id as TenantId); // an id, as it came over HTTP
        assert.equal((await bySlug(known.slug)).status, 200);
      }
      await takeAll();
      await assertSpent();
    });
    it('what cannot be a slug is unknown without a look-up', async () => {
      for (const slug of ['Main', '-a', 'a-', 'a_b', 'a'.repeat(64), '%61', 'a.b'])
        for (let turn = 0; turn < tenantLookUpsPerSecond; turn += 1) await assertRefusal(await bySlug(slug), 'oauth.not_found');
      await takeAll();
      await assertSpent();
    });
    it('what cannot be a host is nobody, without a look-up, and so the root tenant', async () => {
      for (const host of ['-a.example', 'a..example', 'a b.example', `${'a'.repeat(64)}.example`, '[::1', 'a.example:port', 'ä.example'])
        for (let turn = 0; turn < 5; turn += 1) assert.equal((await byHost(host)).status, 200, host);
      await takeAll();
      await assertSpent();
    });
    it('hostBytesMax', async () => {
      const hostOf = (bytes: number): string => {
        made += 1;
        const end = `.${made}.example`;
        return `${'a.'.repeat(bytes).slice(0, bytes - end.length - 1)}a${end}`.replace('..', '.a');
      };
      const [most, over] = [hostOf(hostBytesMax), hostOf(hostBytesMax + 1)];
      assert.deepEqual([most.length, over.length], [hostBytesMax, hostBytesMax + 1]);
      assert.equal((await byHost(`${over}:8080`)).status, 200);
      await takeAll(); // all of them are still there
      await clock.advance(2000);
      assert.equal((await byHost(`${most}:8080`)).status, 200);
      for (let turn = 1; turn < tenantLookUpsPerSecond; turn += 1) await bySlug(unknownSlug());
      await assertSpent(); // one was taken by the host
    });
    it('the metadata of an issuer named in the path is looked up by the same rule', async () => {
      const metadata = (slug: string): Promise<Response> => fetch(`${server.url}/.well-known/oauth-authorization-server/t/${slug}`);
      for (let turn = 0; turn < tenantLookUpsPerSecond; turn += 1) await assertRefusal(await metadata(unknownSlug()), 'oauth.not_found');
      await assertRefusal(await metadata(unknownSlug()), 'oauth.rate_limited', { fields: { retry_after_seconds: 1 } });
      await assertRefusal(await metadata('No-Slug'), 'oauth.not_found');
    });
  });
}

describe('unknown names', () => {
  it('unknownTenantNamesMax: the one not asked for longest is forgotten', () => {
    const names = createUnknownNames(unknownTenantNamesMax, unknownTenantNameBytesMax);
    for (let number = 0; number < unknownTenantNamesMax; number += 1) names.add(`n${number}`);
    assert.ok(names.has('n0'));
    names.add('one more');
    assert.deepEqual([names.has('n0'), names.has('n1'), names.has('one more')], [true, false, true]);
  });
  it('unknownTenantNameBytesMax', () => {
    const names = createUnknownNames(unknownTenantNamesMax, unknownTenantNameBytesMax);
    const half = 'a'.repeat(unknownTenantNameBytesMax / 2);
    names.add(half);
    names.add(`b${half.slice(1)}`);
    assert.ok(names.has(half) && names.has(`b${half.slice(1)}`));
    names.add('c');
    assert.deepEqual([names.has(half), names.has('c')], [false, true]);
    names.clear();
    assert.equal(names.has('c'), false);
  });
});
