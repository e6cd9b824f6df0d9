// What every form of the console keeps to (design 13, section 2): a change answers 303 and the next page says it once; a form sent
// twice acts once, also at the same moment; a new secret survives a reload for ten minutes; a refused form keeps what was typed and
// says at the field what is wrong; every dead end has a way back.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const noticeOf = (page: string): string | undefined => /id="notice">([^<]*)</.exec(page)?.[1];
const secretOf = (page: string): string | undefined => /id="secret-client_secret">([^<]+)</.exec(page)?.[1];

for (const database of databases) {
  describe(`console forms on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    let tenantEmail: string;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      tenantEmail = email;
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());

    it('a form without all its fields is 400, not a fault of ours', async () => {
      const id = await newUser('Whole form');
      for (const path of ['/users', `/users/${id}/edit`])
        assert.equal((await visitor.submit(path, { user_name: 'half@x.example' })).status, 400, path);
    });

    const newUser = async (displayName: string): Promise<string> =>
      String((await visitor.tenant.make('POST', '/users', { user_name: randomUUID(), display_name: displayName }))['id']);
    const newClient = async (): Promise<string> =>
      String(
        (
          await visitor.tenant.make('POST', '/clients', {
            name: 'Shop',
            type: 'confidential',
            token_endpoint_auth_method: 'client_secret_basic',
          })
        )['client_id'],
      );
    const rotations = async (client: string): Promise<number> => {
      const { items } = await visitor.tenant.make<{ items: readonly { target: string }[] }>('GET', '/events?type=client.secret_rotated');
      return items.filter(({ target }) => target === `client:${client}`).length;
    };

    it('a change answers 303 and the next page says it, once', async () => {
      const ada = await newUser('Ada');
      const response = await visitor.submit(`/users/${ada}/suspend`, { sure: 'yes' });
      assert.equal(response.status, 303);
      assert.equal(response.headers.get('location'), `${new URL(visitor.tenant.baseUrl).pathname}/console/users/${ada}`);
      assert.equal(noticeOf(await (await visitor.page(`/users/${ada}`)).text()), 'Ada is suspended.');
      assert.equal(noticeOf(await (await visitor.page(`/users/${ada}`)).text()), undefined);
    });

    it('a question names what it touches and how many sessions end', async () => {
      const ada = await newUser('Ada');
      const page = await (await visitor.submit(`/users/${ada}/suspend`, {})).text();
      assert.match(page, /<h1>Suspend Ada\?<\/h1>/);
      assert.match(page, /No session is open\./);
      assert.match(await (await visitor.submit(`/users/${ada}/delete`, {})).text(), /<h1>Delete Ada\?<\/h1>/);
    });

    it('a form sent twice acts once and leads to what it did', async () => {
      const client = await newClient();
      const id = randomUUID();
      const send = () => visitor.submit(`/clients/${client}/secret`, { sure: 'yes' }, { id });
      const first = await send();
      const shown = await (await visitor.page(`/clients/${client}/credentials`)).text();
      const second = await send();
      assert.deepEqual([second.status, second.headers.get('location')], [303, first.headers.get('location')]);
      const again = await (await visitor.page(`/clients/${client}/credentials`)).text();
      assert.equal(noticeOf(again), 'This form was sent before. What it asks for was done once.');
      assert.equal(secretOf(again), secretOf(shown));
      assert.equal(await rotations(client), 1);
    });

    it('sent at the same moment, one of eight acts', async () => {
      const client = await newClient();
      const id = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => visitor.submit(`/clients/${client}/secret`, { sure: 'yes' }, { id })),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array.from({ length: 8 }, () => 303),
      );
      assert.equal(await rotations(client), 1);
    });

    it('a form that only asked, or was refused, may be sent again; one without an id is refused', async () => {
      const ada = await newUser('Ada');
      const id = randomUUID();
      for (let time = 0; time < 2; time += 1) {
        const asked = await visitor.submit(`/users/${ada}/suspend`, {}, { id });
        assert.equal(asked.status, 200);
        const refused = await visitor.submit('/clients', { name: '' }, { id });
        assert.equal(refused.status, 400);
      }
      assert.equal((await visitor.submit('/groups', { display_name: 'Made after all' }, { id })).status, 303);
      assert.equal((await visitor.submit('/groups', { display_name: 'Without' }, { id: '' })).status, 403);
    });

    it('a new secret survives reloads for ten minutes, on its page and in its session alone', async () => {
      const client = await newClient();
      const made = secretOf(await visitor.act(`/clients/${client}/secret`, { sure: 'yes' }));
      assert.match(made ?? '', /^[A-Za-z0-9_-]{43}$/);
      for (let time = 0; time < 2; time += 1)
        assert.equal(secretOf(await (await visitor.page(`/clients/${client}/credentials`)).text()), made);
      const other = await newClient();
      assert.equal(secretOf(await (await visitor.page(`/clients/${other}/credentials`)).text()), undefined);
      await server.clock.advance(61_000);
      // Another session of the same browser opens none of it.
      const { visitor: next } = await openConsole(server, visitor.tenant, tenantEmail);
      const secrets = visitor
        .cookie()
        .split('; ')
        .find((cookie) => cookie.includes('-secrets-'));
      assert.ok(secrets !== undefined);
      const stolen = await fetch(`${visitor.tenant.baseUrl}/console/clients/${client}/credentials`, {
        headers: { cookie: `${next.cookie()}; ${secrets}` },
      });
      assert.equal(stolen.status, 200);
      assert.equal(secretOf(await stolen.text()), undefined);
      await server.clock.advance(525_000); // seconds are left for a slow machine
      assert.equal(secretOf(await (await visitor.page(`/clients/${client}/credentials`)).text()), made);
      await server.clock.advance(14_000);
      assert.equal(secretOf(await (await visitor.page(`/clients/${client}/credentials`)).text()), undefined);
    });

    it('a refused form: 400, what was typed, and the fault at its field by label and line', async () => {
      const response = await visitor.submit('/clients', {
        name: 'Typed name',
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: 'https://good.example/cb\nhttp://bad.example/cb',
        grant_types: 'authorization_code',
        access_policy: 'everyone',
      });
      const text = await response.text();
      assert.equal(response.status, 400);
      assert.match(text, /value="Typed name"/);
      assert.match(noticeOf(text) ?? '', /^Redirect URIs: /);
      const field = /<textarea name="redirect_uris"[^>]*>[^<]*<\/textarea>.*?<p class="wrong" id="([^"]+)">([^<]+)</.exec(
        text.replaceAll('\n', '|'),
      );
      assert.match(field?.[2] ?? '', /^Line 2: /, field?.[2]);
      assert.match(text, new RegExp(`name="redirect_uris"[^>]* aria-invalid="true" aria-describedby="${field?.[1]}`));
      assert.equal(text.match(/aria-invalid="true"/g)?.length, 1);
      const emails = await (await visitor.submit('/users', { user_name: 'x', email_list: 'no address' })).text();
      assert.match(emails, /name="email_list"[^>]* aria-invalid="true"/);
    });

    it('dead ends lead back: an address that is none, an id that is unknown, a form that is refused', async () => {
      const base = `${new URL(visitor.tenant.baseUrl).pathname}/console`;
      const nowhere = await visitor.page('/nowhere');
      assert.equal(nowhere.status, 404);
      assert.match(await nowhere.text(), new RegExp(`id="back" href="${base}"`));
      const unknown = await visitor.page('/users/nobody');
      assert.equal(unknown.status, 404);
      assert.match(await unknown.text(), new RegExp(`id="back" href="${base}/users"`));
      const forged = await visitor.submit('/groups', { display_name: 'x' }, { csrf: 'wrong' });
      assert.equal(forged.status, 403);
      assert.match(await forged.text(), new RegExp(`id="back" href="${base}"`));
    });
  });
}
