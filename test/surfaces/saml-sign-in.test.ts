// From a provider's request to its answer through the shared sign-in pages, and what explain then shows.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { tryOfRequest } from '../../src/audit/sign-in-tries.ts';
import { listAuditEventsOfRequest } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { createUser } from '../support/fixtures.ts';
import { approveByPin, loginAt, openLogin, signInByPin, type TestLogin } from '../support/login.ts';
import { assertRefusal } from '../support/refusal.ts';
import { assertDelivered, assertStarted, openSamlIdp, type SamlIdp, samlFlags } from '../support/saml-idp.ts';
import { buildRedirectQuery } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  suite(`SAML sign-in on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      await idp.register({ entity_id: 'https://sp.example', name: 'Payroll', attribute_map: { emails: 'mail' } });
    });
    after(() => server.close());

    const begin = async (): Promise<TestLogin> => {
      const query = buildRedirectQuery(idp.request({ issuer: 'https://sp.example' }), { relayState: '/deep' });
      return openLogin(await idp.get(query, { accept: 'text/html' }));
    };
    const follow = (login: TestLogin, location: string | URL, accept = 'application/json'): Promise<Response> =>
      fetch(location, { headers: { cookie: login.cookie, accept } });

    test('request, PIN, finish, post-back: the provider gets its answer', async () => {
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const login = await begin();
      const shown = (await (await login.get()).json()) as { readonly client: { readonly name: string } };
      assert.equal(shown.client.name, 'Payroll');
      const location = await signInByPin(server, login, user.email);
      assert.equal(`${location.origin}${location.pathname}`, `${idp.base}/v1/idp/saml/postback`);
      const { xml, relayState } = await assertDelivered(await follow(login, location));
      assert.equal(relayState, '/deep');
      assert.ok(xml.includes(`>${user.email}<`));
      await assertRefusal(await follow(login, location), 'saml.session_not_found');
    });
    test('as JSON from the start: the post-back is ready only after finish', async () => {
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const started = await idp.redirect(idp.request({ issuer: 'https://sp.example' }));
      const { session_id, login_url } = await assertStarted(started);
      const login = loginAt(login_url, started.headers.get('set-cookie') ?? '');
      const postback = `${idp.base}/v1/idp/saml/postback?session=${session_id}`;
      await assertRefusal(await follow(login, postback), 'saml.session_not_found');
      await approveByPin(server, login, user.email);
      await assertRefusal(await follow(login, postback), 'saml.session_not_found');
      assert.equal((await login.post('finish')).status, 200);
      await assertDelivered(await follow(login, postback));
    });
    test('with forms alone, as a browser without JavaScript', async () => {
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const login = await begin();
      await approveByPin(server, login, user.email);
      const finished = await login.submit('finish');
      assert.equal(finished.status, 303);
      const page = await follow(login, finished.headers.get('location') ?? '', 'text/html,*/*;q=0.8');
      const html = await page.text();
      assert.equal(page.status, 200);
      assert.match(html, /<form method="post" action="https:\/\/sp\.example\/acs">/);
      assert.match(html, /name="RelayState" value="\/deep"/);
    });
    test('7.12 saml.invalid_grant: the person cancels', async () => {
      const login = await begin();
      const { redirect_to: location } = (await (await login.post('cancel')).json()) as { readonly redirect_to: string };
      await assertRefusal(await follow(login, location), 'saml.invalid_grant');
    });
    test('a person who is not assigned: refused at the post-back, and the try says why', async () => {
      await idp.register({ entity_id: 'https://closed.example', name: 'Closed', access_policy: 'assigned' });
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const query = buildRedirectQuery(idp.request({ issuer: 'https://closed.example' }), {});
      const login = openLogin(await idp.get(query, { accept: 'text/html' }));
      const refused = await follow(login, await signInByPin(server, login, user.email));
      await assertRefusal(refused, 'saml.unauthorized');
      const told = await server.gatehouse.services.database.read(idp.tenant.id, (queries) =>
        tryOfRequest(queries, idp.tenant.id, refused.headers.get('x-request-id') ?? ''),
      );
      assert.deepEqual([told?.['user'], told?.['type'], told?.['check']], [user.id, 'login.refused', 'not_assigned']);
    });
    test("another browser's finish and post-back get nothing", async () => {
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const login = await begin();
      const location = await signInByPin(server, login, user.email);
      await assertRefusal(await fetch(location, { headers: { cookie: (await begin()).cookie } }), 'saml.session_not_found');
      await assertDelivered(await follow(login, location));
    });
    test('two tabs at once finish each their own', async () => {
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const [first, second] = [await begin(), await begin()];
      const cookie = `${first.cookie}; ${second.cookie}`;
      for (const login of [second, first]) {
        const location = await signInByPin(server, login, user.email);
        await assertDelivered(await fetch(location, { headers: { cookie, accept: 'application/json' } }));
      }
    });
    test('explain: the refusal names the check, what came and what was expected; the delivery is on record', async () => {
      const refused = await idp.redirect(idp.request({ issuer: 'https://sp.example', destination: 'https://evil.example/' }));
      assert.equal(refused.status, 400);
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const login = await begin();
      const delivered = await follow(login, await signInByPin(server, login, user.email));
      await server.gatehouse.services.refusals.flush();
      const eventsOf = (response: Response) =>
        server.gatehouse.services.database.read(idp.tenant.id, (queries) =>
          listAuditEventsOfRequest(queries, idp.tenant.id, response.headers.get('x-request-id') ?? ''),
        );
      const [refusal] = await eventsOf(refused);
      assert.deepEqual(
        [refusal?.row_id, refusal?.reason, refusal?.received, refusal?.expected],
        ['saml.invalid_request', 'destination', 'https://evil.example/', idp.ssoUrl],
      );
      const [delivery] = await eventsOf(delivered);
      assert.deepEqual([delivery?.type, delivery?.actor], ['saml.delivered', `user:${user.id}`]);
    });
  });
}
