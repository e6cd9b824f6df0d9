// Clients by the document at the URL that is their client_id (draft-ietf-oauth-client-id-metadata-document; design 18, part 2): fetched at
// authorize alone, within budgets, kept for a while; a client of the tenant once a person let it in.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { documentBytesMax, documentIdCharsMax } from '../../src/contract/limits.ts';
import {
  documentFetchesAtOnceMax,
  documentFetchesPerBlockMax,
  documentFreshSecondsMin,
  documentRedirectUrisMax,
  documentStaleSecondsMax,
} from '../../src/domain/client/stranger.ts';
import {
  type Answer,
  allow,
  authorize,
  type DocumentServer,
  loopbackUri,
  mcp,
  openTenant,
  personOf,
  redeem,
  signIn,
  startDocumentServer,
  toConsent,
  tokenRequest,
} from '../support/agents.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { decodeJwt, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const document = { client_name: 'Agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };

for (const database of databases) {
  describe(`clients by document on ${database}`, () => {
    let server: TestServer;
    let documents: DocumentServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database, { flags: { egress_allow: '127.0.0.0/8,10.0.0.0/8' } });
      documents = await startDocumentServer(server);
      managed = await openTenant(server);
    });
    after(async () => {
      await documents.close();
      await server.close();
    });

    const fetches = (path: string): number => documents.asked.filter((one) => one === path).length;
    /** Why a request was refused, as explain says it. */
    const reasonOf = async (at: Managed, response: Response): Promise<unknown> => {
      await assertRefusal(response, 'authorize.unauthorized');
      const path = `/events?request_id=${response.headers.get('x-request-id')}`;
      const found = await eventually(
        async () => (await at.make<{ items: readonly Json[] }>('GET', path)).items[0],
        'the refusal in the trail',
      );
      return found?.['reason'];
    };

    it('one is let in whom nobody registered, and is a client from then on', async () => {
      const id = documents.publish('/agent.json', {
        ...document,
        grant_types: ['authorization_code', 'refresh_token', 'urn:x'],
        logo_uri: 'http://x/',
      });
      const { email } = await personOf(server, managed);
      const { login, shown } = await toConsent(server, await authorize(managed, { client_id: id, scope: 'tools offline_access' }), email);
      const host = new URL(id).host;
      assert.deepEqual(shown['client'], { name: host, logo_uri: null });
      const scopes = ['tools', 'offline_access'];
      assert.deepEqual(shown['consent'], { scopes, resource: mcp, client_host: host, redirect_host: null, checked: false });
      const path = `/clients/${encodeURIComponent(id)}`;
      assert.equal((await managed.call('GET', path)).status, 404, 'not before a person lets it in');
      const tokens = await tokensOf(await redeem(managed, { client_id: id }, await allow(login)));
      const { claims } = decodeJwt(tokens.access_token);
      assert.deepEqual([claims['aud'], claims['client_id'], claims['scope']], [mcp, id, 'tools offline_access']);
      const again = await tokenRequest(managed, { grant_type: 'refresh_token', client_id: id, refresh_token: tokens.refresh_token });
      assert.equal((await tokensOf(again)).scope, 'tools offline_access');
      const { origin, name, grant_types: grants } = await managed.make('GET', path);
      assert.deepEqual([origin, name, grants], ['document', 'Agent', ['authorization_code', 'refresh_token']]);
      assert.equal(fetches('/agent.json'), 1);
      assert.equal((await authorize(managed, { client_id: id })).status, 303);
      assert.equal(fetches('/agent.json'), 1, 'fresh for a while');
    });
    it('who declines lets nobody in', async () => {
      const id = documents.publish('/declined.json', document);
      const { login } = await toConsent(server, await authorize(managed, { client_id: id }), (await personOf(server, managed)).email);
      const cancelled = (await (await login.post('cancel')).json()) as { redirect_to: string };
      assert.equal(new URL(cancelled.redirect_to).searchParams.get('error'), 'access_denied');
      assert.equal((await managed.call('GET', `/clients/${encodeURIComponent(id)}`)).status, 404);
    });
    it('two people at once let one in: one client, two grants', async () => {
      const id = documents.publish('/twice.json', document);
      const people = await Promise.all([personOf(server, managed), personOf(server, managed)]);
      const logins = [];
      for (const { email } of people) logins.push((await toConsent(server, await authorize(managed, { client_id: id }), email)).login);
      const backs = await Promise.all(logins.map(allow));
      for (const back of backs) await tokensOf(await redeem(managed, { client_id: id }, back));
    });
    it('unknown everywhere else: while no resource is open, at PAR, at the token endpoint', async () => {
      const id = documents.publish('/elsewhere.json', document);
      const closed = await createTestTenant(server);
      await assertRefusal(await authorize(closed, { client_id: id }), 'authorize.unauthorized');
      const body = new URLSearchParams({ client_id: id, response_type: 'code', redirect_uri: loopbackUri });
      await assertRefusal(await fetch(`${managed.baseUrl}/v1/idp/oidc/par`, { method: 'POST', body }), 'par.invalid_request', {
        text: 'The client is unknown.',
      });
      const token = await tokenRequest(managed, { grant_type: 'authorization_code', client_id: id, code: 'x', code_verifier: verifier });
      await assertRefusal(token, 'client.invalid_client');
      assert.equal(fetches('/elsewhere.json'), 0);
    });
    it('authorize.unauthorized: what is no client_id by URL is not fetched', async () => {
      const at = await openTenant(server);
      const { origin, host } = new URL(documents.url('/'));
      const asked = documents.asked.length;
      for (const id of [
        origin,
        `${origin}/`,
        `${origin}/a/../b`,
        `${origin}/a/%2e%2e/b`,
        `${origin}/./a`,
        `${origin}/a?b`,
        `${origin}/a#b`,
        `https://user@${host}/a`,
        `https://AGENT.example:1/a`,
        `${origin}/a b`,
        `${origin}/${'a'.repeat(documentIdCharsMax)}`,
      ])
        await assertRefusal(await authorize(at, { client_id: id }), 'authorize.unauthorized');
      assert.equal(documents.asked.length, asked);
      const longest = `${documents.url('/')}${'a'.repeat(documentIdCharsMax)}`.slice(0, documentIdCharsMax);
      documents.publish(new URL(longest).pathname, document);
      assert.equal((await authorize(at, { client_id: longest })).status, 303);
    });
    it('authorize.unauthorized, one answer: documents that are none, with the reason for explain', async () => {
      const uris = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `https://agent.example/${index}`);
      const filled = (bytes: number): string => {
        const bare = JSON.stringify({ client_id: documents.url('/full'), ...document, note: '' });
        return bare.replace('"note":""', `"note":"${'x'.repeat(bytes - bare.length)}"`);
      };
      const cases: readonly (readonly [more: Json, answer: Answer, reason: string])[] = [
        [{}, { status: 302, headers: { location: documents.url('/agent.json') } }, 'client_document_status'],
        [{}, { status: 404 }, 'client_document_status'],
        [{}, { headers: { 'content-type': 'text/html' } }, 'client_document_content_type'],
        [{}, { body: 'x' }, 'client_document_not_an_object'],
        [{}, { body: '[]' }, 'client_document_not_an_object'],
        [{ client_id: documents.url('/other') }, {}, 'client_document_client_id_differs'],
        [{ client_secret: 's' }, {}, 'client_document_secret'],
        [{ client_secret_expires_at: 0 }, {}, 'client_document_secret'],
        [{ token_endpoint_auth_method: 'client_secret_basic' }, {}, 'client_document_method'],
        [{ token_endpoint_auth_method: 'client_secret_jwt' }, {}, 'client_document_method'],
        [{ token_endpoint_auth_method: 'tls_client_auth' }, {}, 'client_document_method'],
        [{ token_endpoint_auth_method: 'private_key_jwt' }, {}, 'client_document_metadata'],
        [{ token_endpoint_auth_method: 7 }, {}, 'client_document_malformed'],
        [{ redirect_uris: undefined }, {}, 'client_document_malformed'],
        [{ redirect_uris: [] }, {}, 'client_document_malformed'],
        [{ redirect_uris: uris(documentRedirectUrisMax + 1) }, {}, 'client_document_malformed'],
        [{ redirect_uris: ['http://agent.example/'] }, {}, 'client_document_metadata'],
        [{ redirect_uris: ['javascript:alert(1)'] }, {}, 'client_document_metadata'],
        [{ client_name: { a: 1 } }, {}, 'client_document_malformed'],
        [{ client_name: 'x'.repeat(1000) }, {}, 'client_document_malformed'],
        [{ client_name: 'a\u0000b' }, {}, 'client_document_malformed'],
        [{ jwks: { keys: [{ kty: 'oct', k: 'x' }] }, token_endpoint_auth_method: 'private_key_jwt' }, {}, 'client_document_metadata'],
      ];
      let at = managed;
      for (const [index, [more, answer, reason]] of cases.entries()) {
        if (index % documentFetchesPerBlockMax === 0) at = await openTenant(server);
        const id = documents.publish(`/bad-${index}`, { ...document, ...more }, answer);
        assert.equal(await reasonOf(at, await authorize(at, { client_id: id })), reason, JSON.stringify([more, answer]));
      }
      at = await openTenant(server);
      documents.answer('/full', { body: filled(documentBytesMax + 1) });
      assert.equal(await reasonOf(at, await authorize(at, { client_id: documents.url('/full') })), 'client_document_too_large');
      documents.answer('/full', { body: filled(documentBytesMax) });
      assert.equal((await authorize(at, { client_id: documents.url('/full') })).status, 303, 'failures are not kept');
      const many = documents.publish('/many', { ...document, redirect_uris: [...uris(documentRedirectUrisMax - 1), loopbackUri] });
      assert.equal((await authorize(at, { client_id: many })).status, 303);
      // On the allow list of the deployment, which is for what its tenants registered.
      assert.equal(await reasonOf(at, await authorize(at, { client_id: 'https://inside.example/a' })), 'client_document_refused_address');
    });
    it('as others publish them: no method, a method among those it can, a grant a public client cannot have', async () => {
      const at = await openTenant(server);
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
      const methodOf = async (path: string, more: Json): Promise<unknown> => {
        const id = documents.publish(path, { ...document, token_endpoint_auth_method: undefined, ...more });
        const { email } = await personOf(server, at);
        await allow((await toConsent(server, await authorize(at, { client_id: id }), email)).login);
        return (await at.make('GET', `/clients/${encodeURIComponent(id)}`))['token_endpoint_auth_method'];
      };
      assert.equal(await methodOf('/none', {}), 'none');
      assert.equal(
        await methodOf('/can', { jwks, token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'] }),
        'private_key_jwt',
      );
      assert.equal(await methodOf('/keyless', { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }), 'none');
      assert.equal(
        await methodOf('/grant', { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'client_credentials'] }),
        'none',
      );
    });
    it('private_key_jwt: by the keys of the document alone', async () => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
      const id = documents.publish('/keyed', { ...document, token_endpoint_auth_method: 'private_key_jwt', jwks });
      const { login } = await toConsent(server, await authorize(managed, { client_id: id }), (await personOf(server, managed)).email);
      const back = await allow(login);
      const bare = await redeem(managed, { client_id: id }, back);
      await assertRefusal(bare, 'client.invalid_client');
      const now = Math.floor(server.clock.nowMs() / 1000);
      const assertion = await new SignJWT({ jti: 'one' })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(id)
        .setSubject(id)
        .setAudience(managed.baseUrl)
        .setIssuedAt(now)
        .setExpirationTime(now + 60)
        .sign(privateKey);
      const answer = await tokenRequest(managed, {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: loopbackUri,
        code_verifier: verifier,
        client_assertion: assertion,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      });
      assert.equal(decodeJwt((await tokensOf(answer)).access_token).claims['client_id'], id);
    });
    it('nobody makes us ask for its keys: no request object, and keys at public addresses alone', async () => {
      const at = documents.answer('/keys', { body: JSON.stringify({ keys: [] }) });
      const id = documents.publish('/asks', { ...document, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: at });
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const sign = (audience: string): Promise<string> =>
        new SignJWT({ client_id: id, redirect_uri: loopbackUri })
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .setIssuer(id)
          .setSubject(id)
          .setAudience(audience)
          .setJti('two')
          .setExpirationTime(Math.floor(server.clock.nowMs() / 1000) + 60)
          .sign(privateKey);
      const refused = await authorize(managed, { client_id: id, request: await sign(managed.baseUrl) });
      assert.equal(new URL(String(refused.headers.get('location'))).searchParams.get('error'), 'request_not_supported');
      await allow((await toConsent(server, await authorize(managed, { client_id: id }), (await personOf(server, managed)).email)).login);
      const answer = await tokenRequest(managed, {
        grant_type: 'refresh_token',
        refresh_token: 'x',
        client_assertion: await sign(managed.baseUrl),
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      });
      await assertRefusal(answer, 'client.invalid_client');
      assert.equal(fetches('/keys'), 0);
    });
    it('what its document says later is what it is: people are asked again, and an administrator hears of it', async () => {
      const at = await openTenant(server, { sso_session: 'browser' });
      const web = 'https://agent.example/callback';
      const id = documents.publish('/changing', { ...document, redirect_uris: [web] });
      const { email } = await personOf(server, at);
      const { login } = await toConsent(server, await authorize(at, { client_id: id, redirect_uri: web }), email);
      const cookie = String((await login.post('finish')).headers.get('set-cookie')).split(';', 1)[0]!;
      const answered = async (): Promise<boolean> =>
        String((await authorize(at, { client_id: id, redirect_uri: web }, { cookie })).headers.get('location')).startsWith(web);
      assert.ok(await answered());
      await server.clock.advance(documentFreshSecondsMin * 1000 + 1);
      assert.ok(await answered(), 'the same document');
      assert.equal(fetches('/changing'), 2);
      documents.publish('/changing', { ...document, redirect_uris: [web], client_name: 'Your bank' });
      await server.clock.advance(documentFreshSecondsMin * 1000 + 1);
      assert.ok(!(await answered()));
      assert.equal((await at.make('GET', `/clients/${encodeURIComponent(id)}`))['name'], 'Your bank');
      const { items } = await at.make<{ items: readonly Json[] }>('GET', '/events?type=client.document_changed');
      assert.deepEqual([items.length, items[0]?.['data']], [1, { fields: ['client_name'] }]);
    });
    it('a host that is silent: the document of before for a day; one that says no: none', async () => {
      const at = await openTenant(server);
      const id = documents.publish('/silent', document);
      assert.equal((await authorize(at, { client_id: id })).status, 303);
      documents.answer('/silent', { status: 503 });
      await server.clock.advance(documentFreshSecondsMin * 1000 + 1);
      assert.equal((await authorize(at, { client_id: id })).status, 303);
      documents.answer('/silent', { status: 404 });
      await assertRefusal(await authorize(at, { client_id: id }), 'authorize.unauthorized');
      documents.answer('/silent', { status: 503 });
      await server.clock.advance(documentStaleSecondsMax * 1000);
      await assertRefusal(await authorize(at, { client_id: id }), 'authorize.unauthorized');
    });
    it(`429 beyond ${documentFetchesPerBlockMax} fetches a minute from an address, and ${documentFetchesAtOnceMax} at once; one document is fetched once`, async () => {
      const at = await openTenant(server);
      const publish = (path: string): string => documents.publish(path, document);
      for (let index = 0; index < documentFetchesPerBlockMax; index += 1)
        assert.equal((await authorize(at, { client_id: publish(`/budget-${index}`) })).status, 303);
      await assertRefusal(await authorize(at, { client_id: publish('/budget-more') }), 'oauth.rate_limited');
      assert.equal((await authorize(at, { client_id: documents.url('/budget-0') })).status, 303, 'what is known costs nothing');
      const other = await openTenant(server);
      const { promise, resolve } = Promise.withResolvers<void>();
      const slow = (path: string): string =>
        documents.answer(path, async () => {
          await promise;
          return { body: JSON.stringify({ client_id: documents.url(path), ...document }) };
        });
      const started = Array.from({ length: documentFetchesAtOnceMax }, (_, index) => slow(`/slow-${index}`)).map((id) =>
        authorize(other, { client_id: id }),
      );
      while (documents.asked.filter((path) => path.startsWith('/slow-')).length < documentFetchesAtOnceMax)
        await new Promise((done) => setTimeout(done, 5));
      const twin = authorize(other, { client_id: documents.url('/slow-0') });
      await assertRefusal(await authorize(other, { client_id: slow('/slow-more') }), 'oauth.rate_limited');
      resolve();
      for (const answer of await Promise.all([...started, twin])) assert.equal(answer.status, 303);
      assert.equal(fetches('/slow-0'), 1);
    });
    it('hosts: trusted ones are said to be checked, blocked ones are unknown, and a tenant may let in trusted ones alone', async () => {
      const at = await openTenant(server);
      const id = documents.publish('/hosts', document);
      const { host } = new URL(id);
      const set = (hosts: Json): Promise<Json> => at.make('PATCH', '/settings', { client_hosts: hosts });
      const checked = async (): Promise<unknown> => {
        const { shown } = await toConsent(server, await authorize(at, { client_id: id }), (await personOf(server, at)).email);
        return (shown['consent'] as Json)['checked'];
      };
      assert.equal(await checked(), false);
      await set({ trusted: [host] });
      assert.equal(await checked(), true);
      await set({ trusted: [], only_trusted: true });
      assert.equal(await reasonOf(at, await authorize(at, { client_id: id })), 'client_host_not_trusted');
      await set({ trusted: [host], only_trusted: true });
      assert.equal((await authorize(at, { client_id: id })).status, 303);
      await set({ blocked: [host], only_trusted: false });
      assert.equal(await reasonOf(at, await authorize(at, { client_id: id })), 'client_host_blocked');
      for (const wrong of ['https://x.example', 'X.example', '*', ''])
        assert.equal((await at.call('PATCH', '/settings', { client_hosts: { blocked: [wrong] } })).status, 400, wrong);
    });
    it('a name with a mark that turns text around is shown without it', async () => {
      const id = documents.publish('/bidi', { ...document, client_name: 'Bank\u202Eevil' });
      const { login } = await toConsent(server, await authorize(managed, { client_id: id }), (await personOf(server, managed)).email);
      const page = await (await login.page()).text();
      assert.ok(page.includes('“Bankevil”') && !page.includes('\u202E'));
    });
    it('a client that somebody registered by a URL is theirs', async () => {
      const at = await openTenant(server);
      const id = documents.publish('/theirs', document);
      const { applyDocument } = await import('../../src/administration/declaration/apply.ts');
      await applyDocument(server.gatehouse.services, at.slug, [
        'gatehouse: 1',
        'clients:',
        `  - { client_id: "${id}", name: Theirs, type: public, redirect_uris: ["https://theirs.example/"], scopes: [openid] }`,
      ]);
      assert.equal(
        (await authorize(at, { client_id: id, redirect_uri: 'https://theirs.example/', resource: undefined, scope: 'openid' })).status,
        303,
      );
      assert.equal(fetches('/theirs'), 0);
      await signIn(server, at, { client_id: documents.publish('/beside', document) }, (await personOf(server, at)).email);
    });
  });
}
