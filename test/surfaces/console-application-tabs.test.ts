// The pages of one application (design 13, section 2): each asks for its own fields and saves them alone, scopes are ticked, and what is
// refused says so at its field, or names the page its field is on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clientFields } from '../../src/domain/client/client.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json, Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const tabs = ['', '/credentials', '/sign-in', '/tokens', '/acts-for', '/logout', '/access'];
const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';

/** The names a page's own forms ask for. */
const namesIn = (page: string): readonly string[] => [
  ...new Set([...page.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]+)"/g)].map(([, name]) => name!)),
];

/** What a browser would send of the form that changes the page. */
function sentBy(page: string): Readonly<Record<string, string>> {
  const form = /<form class="card"[^>]*>([\s\S]*?)<\/form>/.exec(page)?.[1] ?? '';
  const sent: Record<string, string> = {};
  const add = (name: string, value: string): void => {
    if (name !== 'csrf') sent[name] = sent[name] === undefined ? value : `${sent[name]}\n${value}`;
  };
  const decoded = (text: string): string => text.replace(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    const [, name = ''] = /name="([^"]+)"/.exec(tag) ?? [];
    if (/type="checkbox"/.test(tag) && !tag.includes(' checked')) continue;
    add(name, decoded(/value="([^"]*)"/.exec(tag)?.[1] ?? 'on'));
  }
  for (const [, name, text] of form.matchAll(/<textarea name="([^"]+)"[^>]*>\n([^<]*)</g)) add(name!, decoded(text!));
  for (const [all, name] of form.matchAll(/<select name="([^"]+)"[\s\S]*?<\/select>/g))
    add(name!, (/value="([^"]*)" selected/.exec(all) ?? /<option selected>([^<]*)</.exec(all) ?? /value="([^"]*)"/.exec(all))![1]!);
  return sent;
}

for (const database of databases) {
  describe(`console application tabs on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, 200, noticeOf(text));
      assert.ok(Buffer.byteLength(text) < 60_000, `${path}: ${Buffer.byteLength(text)} bytes`);
      return text;
    };
    const newClient = async (more: Json = {}): Promise<string> =>
      String(
        (
          await tenant.make('POST', '/clients', {
            ...{ name: 'Shop', redirect_uris: ['https://shop.example/cb'], post_logout_redirect_uris: ['https://shop.example/'] },
            ...{ scopes: ['openid', 'custom:scope'], backchannel_logout_uri: 'https://shop.example/out', require_pkce: false },
            ...{ require_consent: true, id_token_signed_response_alg: 'ES256', refresh_reuse_leeway_seconds: 45 },
            ...{ resources: ['https://api.example'], access_policy: 'assigned', logo_uri: 'https://shop.example/logo.png' },
            ...more,
          })
        )['client_id'],
      );
    /** All of it but when it was changed. */
    const read = async (id: string): Promise<Json> => {
      const { updated_at: _at, ...client } = await tenant.make('GET', `/clients/${id}`);
      return client;
    };

    it('every field that may be changed is on one page, and every page is a link', async () => {
      const id = await newClient();
      const asked = new Map<string, string>();
      for (const tab of tabs) {
        const page = await show(`/clients/${id}${tab}`);
        assert.match(page, new RegExp(`href="[^"]*/clients/${id}${tab}" aria-current="page"`));
        for (const name of namesIn(page.slice(page.indexOf('<form class="card"')))) {
          if (Object.values(clientFields).every((field) => field.name !== name)) continue;
          assert.equal(asked.get(name), undefined, `${name} is on ${asked.get(name)} and ${tab}`);
          asked.set(name, tab);
        }
      }
      const changeable = Object.values(clientFields).filter(({ kind, about }) => kind.input !== 'none' && about.form !== 'new');
      assert.deepEqual([...asked.keys()].toSorted(), changeable.map(({ name }) => name as string).toSorted());
      const settings = await show(`/clients/${id}`);
      const bar = [.../<nav class="tabs"[\s\S]*?<\/nav>/.exec(settings)![0].matchAll(/>([^<>]+)<\/a>/g)].map(([, name]) => name);
      assert.deepEqual(bar, [
        'Settings',
        'Credentials',
        'Sign-in',
        'Tokens &#38; claims',
        'Acts for',
        'Logout',
        'Access',
        'Activity',
        'Start',
      ]);
    });

    it('what it acts for is asked for in rows', async () => {
      const id = await newClient();
      const sent = {
        ...sentBy(await show(`/clients/${id}/acts-for`)),
        serves: 'https://orders.example',
        'exchange.0.resource': 'https://stock.example',
        'exchange.0.scopes': 'stock:read stock:list',
        'exchange.0.needs': 'orders:read',
      };
      assert.equal((await visitor.submit(`/clients/${id}/acts-for`, sent)).status, 303);
      const { serves, exchange } = await read(id);
      assert.deepEqual(serves, ['https://orders.example']);
      assert.deepEqual(exchange, [{ resource: 'https://stock.example', scopes: ['stock:read', 'stock:list'], needs: ['orders:read'] }]);
      const again = sentBy(await show(`/clients/${id}/acts-for`));
      assert.equal((await visitor.submit(`/clients/${id}/acts-for`, again)).status, 303);
      assert.deepEqual((await read(id))['exchange'], exchange);
    });

    it('saving any page as it is shown changes nothing', async () => {
      const id = await newClient();
      const before = await read(id);
      for (const tab of tabs) {
        const sent = sentBy(await show(`/clients/${id}${tab}`));
        const response = await visitor.submit(`/clients/${id}${tab}`, sent);
        assert.equal(response.status, 303, `${tab}: ${noticeOf(await response.text())}`);
        assert.ok(response.headers.get('location')?.endsWith(`/clients/${id}${tab}`), tab);
        assert.deepEqual(await read(id), before, tab);
      }
    });

    it('a page saves its own fields, and no others that are sent with them', async () => {
      const id = await newClient();
      const before = await read(id);
      const page = await visitor.act(`/clients/${id}/logout`, {
        post_logout_redirect_uris: 'https://shop.example/bye',
        backchannel_logout_uri: '',
        name: 'Not of this page',
        access_policy: 'everyone',
      });
      assert.equal(noticeOf(page), 'Shop is saved.');
      assert.deepEqual(await read(id), {
        ...before,
        post_logout_redirect_uris: ['https://shop.example/bye'],
        backchannel_logout_uri: null,
      });
    });

    it('scopes are ticked or typed: ours, of APIs by name, capabilities, and any other', async () => {
      await tenant.make('POST', '/resources', {
        ...{ identifier: 'https://orders.example', name: 'Orders' },
        scopes: [{ name: 'orders:read', description: 'Read orders' }],
      });
      const id = await newClient();
      const page = await show(`/clients/${id}/sign-in`);
      assert.match(page, /<details open><summary>People \(1\)<\/summary>/);
      assert.match(page, /name="scopes" value="openid" checked/);
      assert.match(
        page,
        /<details><summary>Orders<\/summary><div><label class="check"><input type="checkbox" name="scopes" value="orders:read"> <code>orders:read<\/code> Read orders/,
      );
      assert.match(page, /name="scopes" value="users:read"/);
      assert.doesNotMatch(page, /value="tenants:read"/);
      assert.match(page, /<textarea name="scopes" id="field-scopes-others"[^>]*>\ncustom:scope<\/textarea>/);
      const sent = { ...sentBy(page), scopes: 'openid\norders:read\r\nother\nopenid' };
      assert.equal((await visitor.submit(`/clients/${id}/sign-in`, sent)).status, 303);
      assert.deepEqual((await read(id))['scopes'], ['openid', 'orders:read', 'other']);
      const refused = await visitor.submit(`/clients/${id}/sign-in`, { ...sent, scopes: 'openid\nbad"scope' });
      const text = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(noticeOf(text), /^Scopes: This field must hold scope names/);
      assert.match(text, /<fieldset class="picker" id="field-scopes" aria-invalid="true" aria-describedby="field-scopes-wrong/);
      assert.match(text, /\nbad&#34;scope<\/textarea>/);
    });

    it('CIBA: grant and delivery are one page; a mode without its address is refused there', async () => {
      const id = await newClient();
      const grants = 'authorization_code';
      const ciba = 'urn:openid:params:grant-type:ciba';
      const sent = sentBy(await show(`/clients/${id}/sign-in`));
      const refused = await visitor.submit(`/clients/${id}/sign-in`, {
        ...sent,
        grant_types: ciba,
        backchannel_token_delivery_mode: 'ping',
      });
      const text = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(noticeOf(text), /^CIBA notification endpoint: /);
      assert.match(text, /<option value="ping" selected>/);
      const endpoint = { backchannel_client_notification_endpoint: 'https://shop.example/told' };
      const ping = { ...sent, grant_types: ciba, backchannel_token_delivery_mode: 'ping', ...endpoint };
      assert.equal((await visitor.submit(`/clients/${id}/sign-in`, ping)).status, 303);
      assert.equal((await read(id))['backchannel_token_delivery_mode'], 'ping');
      assert.equal((await visitor.submit(`/clients/${id}/sign-in`, { ...sent, grant_types: grants })).status, 303);
      assert.equal((await read(id))['backchannel_token_delivery_mode'], null);
    });

    it('what is refused because of a field of another page names that page, and keeps what was typed', async () => {
      const id = await newClient();
      const sent = sentBy(await show(`/clients/${id}/sign-in`));
      const refused = await visitor.submit(`/clients/${id}/sign-in`, { ...sent, require_signed_request_object: 'on' });
      const text = await refused.text();
      assert.equal(refused.status, 400);
      assert.equal(
        noticeOf(text),
        'Credentials: Its public keys: This field or “Address of its public keys” is required for signed requests.',
      );
      assert.match(text, /name="require_signed_request_object" id="field-require_signed_request_object" checked/);
    });

    it('credentials: how it authenticates, a new secret after a question, keys pasted or by address, not both', async () => {
      const id = await newClient();
      const at = `/clients/${id}/credentials`;
      const page = await show(at);
      assert.match(page, /<dt>How it authenticates<\/dt><dd><span title="client_secret_basic">Secret in the header/);
      assert.doesNotMatch(page, /id="delete"/);
      assert.doesNotMatch(await show(`/clients/${id}`), /id="act-secret"|name="jwks"/);
      const question = await (await visitor.submit(`/clients/${id}/secret`, {})).text();
      assert.match(question, new RegExp(`id="keep" href="[^"]*${at}"`));
      const made = await visitor.act(`/clients/${id}/secret`, { sure: 'yes' });
      assert.match(made, /id="secret-client_secret">[A-Za-z0-9_-]{43}</);
      assert.match(made, new RegExp(`href="[^"]*${at}" aria-current="page"`));
      const http = await visitor.submit(at, { ...sentBy(page), jwks_uri: 'http://shop.example/jwks' });
      assert.equal(http.status, 400);
      assert.match(noticeOf(await http.text()), /^Address of its public keys: /);
      assert.equal((await visitor.submit(at, { ...sentBy(page), jwks_uri: 'https://shop.example/jwks' })).status, 303);
      const keys =
        '{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}';
      const both = await visitor.submit(at, { ...sentBy(await show(at)), jwks: keys });
      assert.equal(both.status, 400);
      const text = await both.text();
      assert.match(noticeOf(text), /^Address of its public keys: This field may not be given together with “Its public keys”/);
      assert.match(text, /name="jwks"[^>]*>\n\{&#34;keys&#34;/);
    });

    it('access: who may use it is saved there, and anything else is refused; whoever only reads gets no form', async () => {
      const id = await newClient();
      const page = await visitor.act(`/clients/${id}/access`, { access_policy: 'everyone' });
      assert.equal(noticeOf(page), 'Shop is saved.');
      assert.equal((await read(id))['access_policy'], 'everyone');
      const refused = await visitor.submit(`/clients/${id}/access`, { access_policy: 'nobody' });
      assert.equal(refused.status, 400);
      assert.match(noticeOf(await refused.text()), /^Who may use it: /);
      const email = `auditor@${tenant.slug}.example`;
      await tenant.make('POST', '/users', { user_name: email, role: 'user', emails: [{ value: email, primary: true }] });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users?search=auditor`);
      await tenant.make('PUT', `/users/${String(items[0]!['id'])}/roles`, { roles: ['auditor'] });
      const { visitor: auditor } = await openConsole(server, tenant, email);
      for (const tab of tabs) {
        const shown = await (await auditor.page(`/clients/${id}${tab}`)).text();
        assert.doesNotMatch(shown, /id="save"|id="act-secret"/, tab);
      }
      assert.equal((await auditor.submit(`/clients/${id}/logout`, { backchannel_logout_uri: '' })).status, 400);
      assert.equal((await read(id))['backchannel_logout_uri'], 'https://shop.example/out');
    });

    it('claims: from the page of tokens to the rules of this application', async () => {
      const id = await newClient({ mappings: [{ to: 'note', value: 'x' }] });
      const page = await show(`/clients/${id}/tokens`);
      assert.match(page, /It has 1 rule of its own\./);
      const href = /id="claims" href="[^"]*\/console([^"]+)"/.exec(page)![1]!.replaceAll('&#38;', '&');
      assert.match(await show(href), /of Shop/);
      assert.match(await show(`/clients/${await newClient()}/tokens`), /It has no rules of its own/);
    });

    it('an application that is none is 404 on every page', async () => {
      for (const tab of tabs) assert.equal((await visitor.page(`/clients/nobody${tab}`)).status, 404, tab);
      assert.equal((await visitor.submit('/clients/nobody/sign-in', {})).status, 404);
    });
  });
}
