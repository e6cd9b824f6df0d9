import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ServiceProvider } from '../../src/domain/saml/service-provider.ts';
import { deleteServiceProvider } from '../../src/storage/registry/service-providers.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
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
import { startTestServer, type TestServer } from '../support/server.ts';

const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

for (const database of databases) {
  suite(`7.12 post-back on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    let user: Awaited<ReturnType<typeof insertSamlUser>>;
    const notFound = new Set<string>();
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      user = await insertSamlUser(server, idp.tenant);
    });
    after(() => server.close());

    let providers = 0;
    const provider = (fields: Readonly<Record<string, unknown>> = {}): Promise<ServiceProvider> => {
      providers += 1;
      return idp.register({ entity_id: `https://sp-${providers}.example`, ...fields });
    };
    const start = async (to: ServiceProvider, relayState?: string): Promise<StartedSignIn> =>
      startSignIn(await idp.redirect(idp.request({ issuer: to.entityId }), relayState === undefined ? {} : { relayState }));
    const ready = async (to: ServiceProvider, subject: typeof user | 'refused' = user): Promise<StartedSignIn> => {
      const started = await start(to);
      await finishSignIn(server, idp.tenant, started.sessionId, subject === 'refused' ? undefined : subject);
      return started;
    };
    const send = ({ sessionId, cookie }: StartedSignIn, accept?: string): Promise<Response> =>
      postback(idp.base, sessionId, cookie, accept);
    const assertNotFound = async (response: Response): Promise<void> =>
      void notFound.add(await assertRefusal(response, 'saml.session_not_found'));

    test('a ready session is delivered once; RelayState comes back byte for byte', async () => {
      const to = await provider();
      const relayState = `a&b<c>"d'é\u{1F600} +%41\r\n`;
      const started = await start(to, relayState);
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      const delivered = await assertDelivered(await send(started));
      assert.equal(delivered.acsUrl, 'https://sp.example/acs');
      assert.equal(delivered.relayState, relayState);
      assert.match(delivered.xml, /^<samlp:Response /);
      await assertNotFound(await send(started));
    });
    test('by POST too, and null for no RelayState', async () => {
      const { sessionId, cookie } = await ready(await provider());
      const body = new URLSearchParams({ session: sessionId });
      const response = await fetch(`${idp.base}/v1/idp/saml/postback`, {
        method: 'POST',
        body,
        headers: { cookie, accept: 'application/json' },
      });
      assert.equal((await assertDelivered(response)).relayState, null);
    });
    test('the page posts the answer, escapes every value, and needs no script', async () => {
      const to = await provider();
      const started = await start(to, `"><script>alert(1)</script>`);
      await finishSignIn(server, idp.tenant, started.sessionId, user);
      const response = await send(started, 'text/html,*/*');
      const html = await response.text();
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
      const policy = response.headers.get('content-security-policy') ?? '';
      assert.match(policy, /script-src 'sha256-/);
      assert.doesNotMatch(policy, /form-action|unsafe-inline/);
      assert.equal(html.match(/<script>/g)?.length, 1);
      assert.ok(html.includes('<form method="post" action="https://sp.example/acs">') && html.includes('<button type="submit"'));
      assert.ok(html.includes('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"'));
    });

    test('7.12 saml.session_not_found: missing, malformed, unknown, twice', async () => {
      const started = await ready(await provider());
      const { sessionId } = started;
      for (const query of [
        '',
        '?session=',
        '?session=x',
        `?session=${'A'.repeat(43)}`,
        `?session=${sessionId}&session=${sessionId}`,
        `?%73ession=${sessionId}`,
        '?session=%00',
        `?session=${sessionId}%00`,
        '?session=%FF',
        '?session=%',
      ]) {
        const response = await fetch(`${idp.base}/v1/idp/saml/postback${query}`, { headers: { cookie: started.cookie } });
        await assertNotFound(response);
      }
      await assertDelivered(await send(started));
    });
    test('7.12 saml.session_not_found: pending', async () => assertNotFound(await send(await start(await provider()))));
    test('7.12 saml.session_not_found: without the cookie, with a wrong one, with the right value under another name', async () => {
      const started = await ready(await provider());
      const { cookie } = await ready(await provider());
      for (const wrong of ['', cookie, `${started.cookie}x`, started.cookie.replace('gh-tx-', 'other-')])
        await assertNotFound(await send({ ...started, cookie: wrong }));
      await assertDelivered(await send({ ...started, cookie: `a=b; ${cookie}; ${started.cookie}` }));
    });
    test('7.12 saml.session_not_found: expired after 10 minutes', async () => {
      const fresh = await ready(await provider());
      await server.clock.advance(590_000);
      const started = await ready(await provider());
      await assertDelivered(await send(fresh));
      await server.clock.advance(601_000);
      await assertNotFound(await send(started));
    });
    test('a HEAD delivers nothing', async () => {
      const started = await ready(await provider());
      const response = await fetch(`${idp.base}/v1/idp/saml/postback?session=${started.sessionId}`, {
        method: 'HEAD',
        headers: { cookie: started.cookie },
      });
      assert.equal(response.status, 405);
      await assertDelivered(await send(started));
    });
    test('50 parallel post-backs deliver once', async () => {
      const started = await ready(await provider());
      const responses = await Promise.all(Array.from({ length: 50 }, () => send(started)));
      assert.equal(responses.filter((response) => response.status === 200).length, 1);
      for (const response of responses) if (response.status !== 200) await assertNotFound(response);
    });
    test('every 404 has the same bytes', () => assert.equal(notFound.size, 1));

    test('7.12 saml.invalid_grant: sign-in refused, user suspended, deleted or gone', async () => {
      const answers = new Set<string>();
      answers.add(await assertRefusal(await send(await ready(await provider(), 'refused')), 'saml.invalid_grant'));
      for (const state of ['suspended', 'deleted']) {
        const subject = await insertSamlUser(server, idp.tenant);
        const started = await ready(await provider(), subject);
        await server.gatehouse.services.database.write(idp.tenant.id, (queries) =>
          queries.updateTable('users').set({ state }).where('tenant_id', '=', idp.tenant.id).where('id', '=', subject).execute(),
        );
        answers.add(await assertRefusal(await send(started), 'saml.invalid_grant'));
      }
      assert.equal(answers.size, 1);
    });

    test('7.12 saml.unauthorized: provider disabled, deleted, consumer service gone, not assigned, IdP-initiated switched off', async () => {
      const answers = new Set<string>();
      const refuse = async (change: (to: ServiceProvider) => Promise<unknown>, fields = {}, begin = ready): Promise<void> => {
        const to = await provider(fields);
        const started = await begin(to);
        await change(to);
        answers.add(await assertRefusal(await send(started), 'saml.unauthorized'));
      };
      await refuse((to) => idp.change({ ...to, enabled: false }));
      await refuse((to) =>
        server.gatehouse.services.cache.write(idp.tenant.id, (queries) => deleteServiceProvider(queries, idp.tenant.id, to.id)),
      );
      await refuse((to) => idp.change({ ...to, acs: [{ url: 'https://new.example/acs', index: 0, default: true }] }));
      await refuse(async () => undefined, { access_policy: 'assigned' });
      const initiate = async (to: ServiceProvider): Promise<StartedSignIn> => {
        const started = await startSignIn(await idp.get(`sp=${encodeURIComponent(to.entityId)}`));
        await finishSignIn(server, idp.tenant, started.sessionId, user);
        return started;
      };
      await refuse((to) => idp.change({ ...to, idpInitiatedAllowed: false }), { idp_initiated_allowed: true }, initiate);
      assert.equal(answers.size, 1);
    });
    test('7.12 saml.name_id_policy: a user without a primary email, a format switched off since', async () => {
      const nameless = await provider({ name_id_formats: [emailFormat] });
      await assertRefusal(await send(await ready(nameless)), 'saml.name_id_policy');
      const changed = await provider();
      const started = await ready(changed);
      await idp.change({ ...changed, nameIdFormats: [emailFormat] });
      await assertRefusal(await send(started), 'saml.name_id_policy');
    });
    test('refusals before delivery burn nothing', async () => {
      const to = await provider();
      const started = await ready(to);
      await idp.change({ ...to, enabled: false });
      await assertRefusal(await send(started), 'saml.unauthorized');
      await idp.change(to);
      await assertDelivered(await send(started));
    });
    test("another tenant's session is unknown", async () => {
      const { services } = server.gatehouse;
      const { createTenant } = await import('../../src/tokens/tenant-creation.ts');
      const made = await createTenant(services, {
        slug: 'acme',
        name: 'Acme',
        actor: 'operator',
      });
      assert.ok(made.ok);
      services.cache.forget(made.tenant.id);
      const started = await ready(await provider());
      await assertNotFound(await postback(`${idp.base}/t/acme`, started.sessionId, started.cookie));
      await assertDelivered(await send(started));
    });
  });
}
