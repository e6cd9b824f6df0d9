// The system API: tenants, made and unmade by the operator (design 02).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { callJson, callSystem, type Json, jsonOf } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`system API on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const call = (method: string, path: string, body?: unknown): Promise<Response> => callSystem(server, method, path, body);
    const refused = async (body: unknown, kind: string, text: string): Promise<void> => {
      await assertRefusal(await call('POST', '/tenants', body), 'management.invalid_request', { kind, text });
    };

    it('a link that sets up an administrator works once, of that tenant alone; unknown tenants and bodies are refused', async () => {
      const { id } = await jsonOf<{ id: string }>(await call('POST', '/tenants', { slug: 'inviting', name: 'Inviting' }), 201);
      const made = await jsonOf<{ setup_url: string }>(await call('POST', `/tenants/${id}/invitations`, {}), 201);
      assert.deepEqual(Object.keys(made), ['setup_url']);
      const [page, token] = made.setup_url.split('#', 2) as [string, string]; // a link with a fragment
      assert.equal(page, `${server.url}/t/inviting/setup`);
      const setUp = (base: string, email: string): Promise<Response> =>
        fetch(`${base}/setup`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ token, email }),
          headers: { accept: 'text/html' },
        });
      assert.equal((await setUp(server.url, 'first@x.example')).status, 404);
      assert.equal((await setUp(`${server.url}/t/inviting`, 'first@x.example')).status, 303);
      assert.equal((await setUp(`${server.url}/t/inviting`, 'second@x.example')).status, 404);
      await assertRefusal(await call('POST', '/tenants/nobody/invitations', {}), 'management.not_found');
      await assertRefusal(await call('POST', `/tenants/${id}/invitations`, { email: 'x' }), 'management.invalid_request', {
        kind: 'email',
        text: /./,
      });
    });

    it('creates a tenant with its addresses and an admin client', async () => {
      const created = await jsonOf(await call('POST', '/tenants', { slug: 'acme', name: 'Acme' }), 201);
      const { id, admin_client: admin, created_at: createdAt, updated_at: updatedAt, ...rest } = created;
      assert.deepEqual(rest, {
        slug: 'acme',
        name: 'Acme',
        domain: null,
        enabled: true,
        base_url: `${server.url}/t/acme`,
        management_api: `${server.url}/t/acme/v1/management`,
        moving: null,
      });
      assert.match(String(id), /^[0-9a-f-]{36}$/);
      assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT.*Z$/);
      assert.equal(updatedAt, createdAt);
      const { client_id: clientId, client_secret: clientSecret } = admin as Record<string, string>;
      assert.match(clientId!, /^[A-Za-z0-9_-]{22}$/);
      assert.match(clientSecret!, /^[A-Za-z0-9_-]{43}$/);
      const { admin_client: _shownOnce, ...readable } = created;
      assert.deepEqual(await jsonOf(await call('GET', `/tenants/${id}`), 200), readable);
      assert.equal((await fetch(`${server.url}/t/acme/v1/idp/oidc/jwks`)).status, 200);
    });

    it('a tenant asked for before it was made is found at once', async () => {
      assert.equal((await fetch(`${server.url}/t/late/v1/idp/oidc/jwks`)).status, 404);
      await jsonOf(await call('POST', '/tenants', { slug: 'late', name: 'Late' }), 201);
      assert.equal((await fetch(`${server.url}/t/late/v1/idp/oidc/jwks`)).status, 200);
    });

    it('a custom domain is the base URL, given as origin or host', async () => {
      for (const [slug, domain] of [
        ['own', 'https://login.own.example'],
        ['bare', 'login.bare.example'],
      ] as const) {
        const created = await jsonOf(await call('POST', '/tenants', { slug, name: slug, domain }), 201);
        assert.equal(created['base_url'], `https://login.${slug}.example`);
      }
      await assertRefusal(
        await call('POST', '/tenants', { slug: 'thief', name: 'x', domain: 'https://login.own.example' }),
        'management.conflict',
        { kind: 'slug', text: 'The slug or domain is in use.' },
      );
    });

    it('management.conflict: a slug in use, and the root tenant’s', async () => {
      for (const slug of ['taken', 'main']) {
        if (slug === 'taken') await jsonOf(await call('POST', '/tenants', { slug, name: 'x' }), 201);
        await assertRefusal(await call('POST', '/tenants', { slug, name: 'x' }), 'management.conflict', {
          kind: 'slug',
          text: 'The slug or domain is in use.',
        });
      }
    });

    it('20 parallel creations of one slug make one tenant', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/tenants', { slug: 'race', name: 'x' })));
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
    });

    it('management.invalid_request: each field, named', async () => {
      await refused({ name: 'x' }, 'slug', 'This field is required.');
      await refused({ slug: 'x' }, 'name', 'This field is required.');
      await refused({ slug: 'Not A Slug', name: 'x' }, 'slug', 'This field does not have the expected form.');
      await refused({ slug: 's'.repeat(64), name: 'x' }, 'slug', 'This field does not have the expected form.');
      await refused({ slug: 'x', name: '' }, 'name', 'This field must not have fewer than 1 characters.');
      await refused({ slug: 'x', name: 'n'.repeat(201) }, 'name', 'This field must not have more than 200 characters.');
      await refused({ slug: 'x', name: 7 }, 'name', 'This field must be string.');
      await refused({ slug: 'x', name: 'x', colour: 'red' }, 'colour', 'This field is not known here.');
      for (const domain of [
        'http://login.acme.example',
        'https://a.example/path',
        'https://user@a.example',
        'ftp://a.example',
        ' ',
        'https://a.example/?q',
      ])
        await refused({ slug: 'x', name: 'x', domain }, 'domain', 'This field must be an https origin such as https://login.acme.example.');
      await refused([], 'body', 'Expected a JSON object.');
      await refused('text', 'body', 'Expected a JSON object.');
    });

    it('bounds: a slug of 63 and a name of 200 characters pass', async () => {
      await jsonOf(await call('POST', '/tenants', { slug: 's'.repeat(63), name: 'n'.repeat(200) }), 201);
    });

    it('lists in pages by slug, each tenant once', async () => {
      for (const slug of ['p1', 'p2', 'p3']) await jsonOf(await call('POST', '/tenants', { slug, name: slug }), 201);
      const slugs: unknown[] = [];
      let cursor: unknown;
      do {
        const query = cursor === undefined ? 'limit=2' : `limit=2&cursor=${String(cursor)}`;
        const page = await jsonOf<{ items: readonly Json[]; next_cursor?: string }>(await call('GET', `/tenants?${query}`), 200);
        assert.ok(page.items.length <= 2);
        slugs.push(...page.items.map((item) => item['slug']));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      assert.deepEqual(slugs, [...new Set(slugs)].sort());
      for (const slug of ['main', 'p1', 'p2', 'p3']) assert.ok(slugs.includes(slug), slug);
    });

    it('management.invalid_request: paging parameters', async () => {
      for (const [query, kind] of [
        ['limit=0', 'limit'],
        ['limit=201', 'limit'],
        ['limit=x', 'limit'],
        ['limit=1&limit=2', 'limit'],
        ['cursor=%21', 'cursor'],
        ['cursor=QUJD', 'cursor'],
        ['page=2', 'page'],
      ] as const)
        await assertRefusal(await call('GET', `/tenants?${query}`), 'management.invalid_request', { kind, text: /./ });
      assert.equal((await call('GET', '/tenants?limit=200')).status, 200);
    });

    it('PATCH renames, moves to a domain and back, disables and enables', async () => {
      const { id } = await jsonOf(await call('POST', '/tenants', { slug: 'moving', name: 'Before' }), 201);
      const keys = `${server.url}/t/moving/v1/idp/oidc/jwks`;
      assert.equal((await jsonOf(await call('PATCH', `/tenants/${id}`, { name: 'After' }), 200))['name'], 'After');
      const moved = await jsonOf(await call('PATCH', `/tenants/${id}`, { domain: 'https://moved.example' }), 200);
      assert.equal(moved['management_api'], 'https://moved.example/v1/management');
      const back = await jsonOf(await call('PATCH', `/tenants/${id}`, { domain: null }), 200);
      assert.equal(back['base_url'], `${server.url}/t/moving`);
      assert.equal((await fetch(keys)).status, 200);
      assert.equal((await jsonOf(await call('PATCH', `/tenants/${id}`, { enabled: false }), 200))['enabled'], false);
      await assertRefusal(await fetch(keys), 'oauth.not_found');
      await jsonOf(await call('PATCH', `/tenants/${id}`, { enabled: true }), 200);
      assert.equal((await fetch(keys)).status, 200);
    });

    it('PATCH refuses a domain in use and fields it does not have', async () => {
      await jsonOf(await call('POST', '/tenants', { slug: 'holder', name: 'x', domain: 'https://held.example' }), 201);
      const { id } = await jsonOf(await call('POST', '/tenants', { slug: 'wanter', name: 'x' }), 201);
      const taken = await call('PATCH', `/tenants/${id}`, { domain: 'https://held.example' });
      await assertRefusal(taken, 'management.conflict', { kind: 'domain', text: 'The domain is in use.' });
      const renamed = await call('PATCH', `/tenants/${id}`, { slug: 'other' });
      await assertRefusal(renamed, 'management.invalid_request', { kind: 'slug', text: 'This field is not known here.' });
    });

    it('DELETE removes the tenant and frees its slug; the root tenant stays', async () => {
      const { id } = await jsonOf(await call('POST', '/tenants', { slug: 'gone', name: 'x' }), 201);
      const deleted = await call('DELETE', `/tenants/${id}`);
      assert.equal(deleted.status, 204);
      assert.equal(await deleted.text(), '');
      await assertRefusal(await call('GET', `/tenants/${id}`), 'management.not_found');
      await assertRefusal(await call('DELETE', `/tenants/${id}`), 'management.not_found');
      await assertRefusal(await fetch(`${server.url}/t/gone/v1/idp/oidc/jwks`), 'oauth.not_found');
      await jsonOf(await call('POST', '/tenants', { slug: 'gone', name: 'x' }), 201);
      const root = await jsonOf<{ items: readonly Json[] }>(await call('GET', '/tenants?limit=200'), 200);
      const main = root.items.find((item) => item['slug'] === 'main')!;
      await assertRefusal(await call('DELETE', `/tenants/${main['id']}`), 'management.conflict', {
        kind: 'id',
        text: 'The root tenant cannot be deleted.',
      });
    });

    it('management.unauthorized: no token, a wrong one, another scheme; one answer', async () => {
      const url = `${server.url}/v1/system/tenants`;
      const bodies = [
        await assertRefusal(await callJson(url, undefined, 'GET'), 'management.unauthorized'),
        await assertRefusal(await callJson(url, 'wrong', 'GET'), 'management.unauthorized'),
        await assertRefusal(await fetch(url, { headers: { authorization: 'Basic YTpi' } }), 'management.unauthorized'),
        await assertRefusal(await callJson(url, 'wrong', 'POST', { slug: '!' }), 'management.unauthorized'),
      ];
      assert.equal(new Set(bodies).size, 1);
    });

    it('paths, methods, bodies and types that are not there', async () => {
      await assertRefusal(await call('GET', '/nothing'), 'management.not_found');
      await assertRefusal(await call('GET', '/tenants/'), 'management.not_found');
      await assertRefusal(await call('GET', '/tenants/unknown'), 'management.not_found');
      await assertRefusal(await callJson(`${server.url}/t/acme/v1/system/tenants`, 'any', 'GET'), 'management.not_found');
      const put = await call('PUT', '/tenants', {});
      assert.equal(put.headers.get('allow'), 'POST, GET, HEAD');
      await assertRefusal(put, 'management.method_not_allowed');
      const url = `${server.url}/v1/system/tenants`;
      const post = (type: string, body: string): Promise<Response> =>
        fetch(url, { method: 'POST', headers: { authorization: 'Bearer operator-token-of-the-tests', 'content-type': type }, body });
      await assertRefusal(await post('text/plain', 'x'), 'management.unsupported_media_type');
      await assertRefusal(await post('application/json', '{'), 'management.malformed');
      await assertRefusal(await post('application/json', '{"slug":"a","slug":"b"}'), 'management.malformed');
      await assertRefusal(await post('application/json', JSON.stringify({ name: 'x'.repeat(256 * 1024) })), 'management.payload_too_large');
      const head = await fetch(url, { method: 'HEAD', headers: { authorization: 'Bearer operator-token-of-the-tests' } });
      assert.equal(head.status, 200);
    });
  });
}
