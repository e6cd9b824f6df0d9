// A CIBA request approved on the page a mail opens: its mail, its page, its decisions, and what it refuses.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

for (const database of databases) {
  describe(`mailed approval on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;

    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant, {
        name: 'Bank <b>& Co</b>\nX',
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'poll',
      });
    });
    after(() => server.close());

    const post = (endpoint: string, form: Readonly<Record<string, string>>): Promise<Response> =>
      postForm(`${server.url}/v1/idp/oidc/${endpoint}`, form, basic(client.clientId, client.secret));
    const start = async (
      message?: string,
    ): Promise<{ readonly id: string; readonly user: TestUser; readonly mail: Mail; readonly link: URL }> => {
      const user = await createUser(server.gatehouse.services, tenant);
      const form = { scope: 'openid', login_hint: user.email, ...(message === undefined ? {} : { binding_message: message }) };
      const { auth_req_id: id } = (await (await post('bc-authorize', form)).json()) as { auth_req_id: string };
      const headers = { authorization: `Bearer ${operatorToken}` };
      const outbox = await fetch(`${server.url}/v1/system/outbox?to=${encodeURIComponent(user.email)}`, { headers });
      const { messages } = (await outbox.json()) as { messages: Mail[] };
      assert.equal(messages.length, 1);
      const mail = messages[0]!;
      const link = new URL(/^http\S+$/m.exec(mail.text)![0]);
      return { id, user, mail, link };
    };
    const poll = async (id: string): Promise<string> => {
      const body = (await (await post('token', { grant_type: cibaGrantType, auth_req_id: id })).json()) as { error?: string };
      return body.error ?? 'tokens';
    };
    const json = { accept: 'application/json' };
    const decideJson = (link: URL, decision: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${link.origin}${link.pathname}`, {
        method: 'POST',
        headers: { ...json, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ token: link.searchParams.get('token'), decision }),
      });

    it('the mail names client and message, escaped; its link carries 256 bits in the query', async () => {
      const { mail, link } = await start('Pay 10 € to <Eve>');
      assert.equal(mail.subject, 'Bank <b>& Co</b> X asks for your approval');
      assert.ok(mail.text.includes('Pay 10 € to <Eve>'));
      assert.ok(mail.html.includes('Pay 10 € to &#60;Eve&#62;') && !mail.html.includes('<Eve>') && !mail.html.includes('<b>&'));
      assert.equal(`${link.origin}${link.pathname}`, `${tenant.baseUrl}/approve`);
      assert.match(link.searchParams.get('token') ?? '', /^[A-Za-z0-9_-]{43}$/);
    });
    it('opening the page decides nothing; it shows client and message; the form approves; the client gets tokens', async () => {
      const { id, link } = await start('Code <42>');
      const page = await fetch(link, { headers: { accept: 'text/html' } });
      const markup = await page.text();
      assert.equal(page.status, 200);
      assert.equal(page.headers.get('cache-control'), 'no-store');
      assert.ok(markup.includes('Code &#60;42&#62;') && markup.includes('id="approve"') && markup.includes('id="deny"'));
      assert.equal(await poll(id), 'authorization_pending');
      const token = link.searchParams.get('token')!;
      const done = await postForm(
        `${tenant.baseUrl}/approve`,
        { token, decision: 'approve' },
        { accept: 'text/html', origin: link.origin },
      );
      assert.equal(done.status, 303);
      assert.equal(done.headers.get('location'), link.href);
      assert.ok((await (await fetch(link, { headers: { accept: 'text/html' } })).text()).includes('id="approved"'));
      assert.equal(await poll(id), 'tokens');
    });
    it('JSON: state, client, message; approve, then approval.not_pending', async () => {
      const { id, link } = await start('hello');
      const shown = (await (await fetch(link, { headers: json })).json()) as { expires_at: string };
      assert.deepEqual(shown, {
        state: 'pending',
        client: { name: client.name },
        binding_message: 'hello',
        expires_at: new Date(shown.expires_at).toISOString(),
      });
      assert.deepEqual(await (await decideJson(link, 'approve')).json(), { state: 'approved' });
      await assertRefusal(await decideJson(link, 'deny'), 'approval.not_pending');
      assert.equal(await poll(id), 'tokens');
    });
    it('deny and not_me end the request', async () => {
      for (const decision of ['deny', 'not_me']) {
        const { id, link } = await start();
        assert.deepEqual(await (await decideJson(link, decision)).json(), { state: 'denied' });
        assert.equal(await poll(id), 'access_denied');
      }
    });
    it('login.not_found: no secret, another one, in another tenant', async () => {
      const { link } = await start();
      const other = await createOtherTenant(server.gatehouse.services, `other-${database}`);
      const wrong = `${link.href.slice(0, -1)}${link.href.endsWith('A') ? 'B' : 'A'}`;
      const elsewhere = `${other.baseUrl}/approve${link.search}`;
      for (const url of [`${tenant.baseUrl}/approve`, `${tenant.baseUrl}/approve?token=x`, wrong, elsewhere])
        await assertRefusal(await fetch(url, { headers: json }), 'login.not_found');
    });
    it('login.forbidden: a post from another origin decides nothing', async () => {
      const { id, link } = await start();
      await assertRefusal(await decideJson(link, 'approve', { origin: 'https://evil.example' }), 'login.forbidden');
      assert.equal(await poll(id), 'authorization_pending');
    });
    it('login.invalid_request: token or decision missing or unknown', async () => {
      const { link } = await start();
      const text = /^decision: expected /;
      for (const decision of ['', 'maybe', 'constructor'])
        await assertRefusal(await decideJson(link, decision), 'login.invalid_request', { kind: 'decision', text });
      const bare = await fetch(`${tenant.baseUrl}/approve`, {
        method: 'POST',
        headers: { ...json, 'content-type': 'application/json' },
        body: '{}',
      });
      await assertRefusal(bare, 'login.invalid_request', { kind: 'token', text: /^token: expected / });
    });
    it('approval.expired (kept last: it moves the clock)', async () => {
      const { link } = await start();
      await server.clock.advance(301_000);
      assert.equal(((await (await fetch(link, { headers: json })).json()) as { state: string }).state, 'expired');
      await assertRefusal(await decideJson(link, 'approve'), 'approval.expired');
    });
  });
}
