// The code of a waiting sign-in (QR code and app link): claimed once, within 30 s, by a device of the person who was named;
// every other claim is one refusal, whatever its cause.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { approvalCodeCharsMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, setUserState, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { createTestTenant } from '../support/management.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createWebPhone, type WebPhone } from '../support/web-phone.ts';

interface Item {
  readonly id: string;
  readonly type: string;
  readonly match: { readonly required: boolean };
  readonly context_sha256: string;
}

const open = { ...unlimited, login_methods: ['phone', 'email_pin'], device: { additional_device: 'email_pin' } };

for (const database of databases) {
  describe(`the code of a waiting sign-in on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    let phone: Phone;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, open);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(async () => {
      people += 1;
      user = await createUser(server, `scanner${people}@example.com`);
      phone = await enrolledPhone(server, user);
    });

    const waiting = async (identifier = user.email): Promise<TestLogin> => {
      const login = await beginLogin(server, tenant, client);
      assert.equal((await login.post('identify', { identifier })).status, 200);
      assert.equal((await login.post('method', { method: 'phone' })).status, 200);
      return login;
    };
    const linkOf = async (login: TestLogin): Promise<string> => {
      const response = await login.get('/qr');
      assert.equal(response.status, 200, await response.clone().text());
      const { qr_uri: link, expires_at: expires, ...rest } = (await response.json()) as Record<string, string>;
      assert.deepEqual(rest, {});
      const left = Date.parse(expires!) - server.clock.nowMs();
      assert.ok(left > 0 && left <= 31_000, `${left} ms`);
      return link!;
    };
    const codeOf = async (login: TestLogin): Promise<string> => (await linkOf(login)).split('#v=1&c=')[1]!;
    const claim = (code: string, of: Phone = phone, purpose: 'pop' | 'uv' = 'pop') =>
      of.post('/approvals/claim', { code, scanned: true }, { purpose });
    const claimed = async (code: string, of: Phone = phone): Promise<Item> => {
      const response = await claim(code, of);
      assert.equal(response.status, 200, await response.clone().text());
      return (await response.json()) as Item;
    };
    const approve = (item: Item, of: Phone = phone, more: object = {}) =>
      of.post(`/approvals/${item.id}/approve`, { context_sha256: item.context_sha256, ...more }, { purpose: 'uv' });
    const list = async (of: Phone = phone): Promise<readonly Item[]> =>
      ((await (await of.get('/approvals')).json()) as { items: Item[] }).items;
    const stateOf = async (login: TestLogin): Promise<string> => ((await (await login.get('/status')).json()) as { state: string }).state;
    const refused = async (response: Response): Promise<string> => assertRefusal(response, 'device.not_found');

    it('scanned and approved without a number, and the browser finishes', async () => {
      const login = await waiting();
      const link = await linkOf(login);
      assert.match(link, new RegExp(`^${server.url}/scan#v=1&c=[\\w-]{22}\\.[0-9a-z]{8}\\.[\\w-]{22}$`));
      const [before] = await list();
      const item = await claimed(link.split('c=')[1]!);
      assert.deepEqual([before!.match.required, item.match.required], [true, false]);
      assert.notEqual(item.context_sha256, before!.context_sha256);
      assert.deepEqual(await list(), [item]);
      await assertRefusal(await approve(before!), 'approval.context_changed');
      assert.deepEqual(await (await approve(item)).json(), { id: item.id, state: 'approved' });
      const finished = (await (await login.post('finish')).json()) as { redirect_to: string };
      assert.match(finished.redirect_to, /[?&]code=/);
      await assertRefusal(await login.get('/qr'), 'login.conflict');
    });

    describe('a web phone', () => {
      let web: WebPhone;
      beforeEach(async () => {
        web = createWebPhone(server.url, server.clock.nowMs);
        await enrolledPhone(server, user, web, { platform: 'web', name: 'Firefox' });
      });
      const claimIn = (login: TestLogin | undefined, code: string) =>
        web.post('/approvals/claim', { code, scanned: true }, login === undefined ? {} : { headers: { cookie: login.cookie } });
      const auditOf = async (item: Item): Promise<unknown> => {
        const row = await server.gatehouse.services.database.read(tenant.id, (queries) =>
          queries
            .selectFrom('audit_events')
            .select('data')
            .where('tenant_id', '=', tenant.id)
            .where('type', '=', 'approval.claimed')
            .where('target', '=', `approval:${item.id}`)
            .executeTakeFirstOrThrow(),
        );
        return JSON.parse(row.data ?? '');
      };

      it('in the browser that signs in: no number, and the audit record says so', async () => {
        const login = await waiting();
        const item = (await (await claimIn(login, await codeOf(login))).json()) as Item;
        assert.equal(item.match.required, false);
        assert.deepEqual(await auditOf(item), { device: web.deviceId, same_browser: true });
        assert.match(await (await login.page()).text(), /The app has read the code/);
        assert.deepEqual(await (await approve(item, web)).json(), { id: item.id, state: 'approved' });
      });

      for (const [name, cookieOf] of [
        ['scanned from another screen or relayed: no cookie', () => undefined],
        ['with the cookie of another sign-in of its own', () => waiting()],
      ] as const)
        it(`${name}: the number stays on the page and must be typed`, async () => {
          const login = await waiting();
          const code = await codeOf(login);
          const item = (await (await claimIn(await cookieOf(), code)).json()) as Item;
          assert.equal(item.match.required, true);
          assert.deepEqual(await auditOf(item), { device: web.deviceId, same_browser: false });
          const number = /<div id="approve-number">(\d\d)</.exec(await (await login.page()).text())?.[1];
          const text = 'match must be a text of 1 to 8 characters.';
          await assertRefusal(await approve(item, web), 'device.invalid_request', { kind: 'match', text });
          assert.equal((await approve(item, web, { match: number })).status, 200);
        });

      it('a cookie with another value, or sent twice, is none', async () => {
        for (const spoil of [(cookie: string) => `${cookie}x`, (cookie: string) => `${cookie}; ${cookie}`]) {
          const login = await waiting();
          const sent = { headers: { cookie: spoil(login.cookie) } };
          const item = (await (await web.post('/approvals/claim', { code: await codeOf(login) }, sent)).json()) as Item;
          assert.equal(item.match.required, true);
        }
      });

      it('the cookie spares nothing before the code is claimed', async () => {
        const login = await waiting();
        const listed = await web.get('/approvals', { headers: { cookie: login.cookie } });
        const [item] = ((await listed.json()) as { items: Item[] }).items;
        assert.equal(item!.match.required, true);
      });
    });

    for (const [name, body] of [
      ['opened as a link', {}],
      ['said not to be scanned', { scanned: false }],
    ] as const)
      it(`${name}, as a relayed one is: the number stays on the page and must be typed, one try`, async () => {
        const wrong = await waiting();
        const right = await waiting();
        for (const login of [wrong, right]) {
          const response = await phone.post('/approvals/claim', { code: await codeOf(login), ...body });
          const item = (await response.json()) as Item;
          assert.equal(item.match.required, true);
          const number = /<div id="approve-number">(\d\d)</.exec(await (await login.page()).text())?.[1];
          const text = 'match must be a text of 1 to 8 characters.';
          await assertRefusal(await approve(item), 'device.invalid_request', { kind: 'match', text });
          if (login === wrong) await assertRefusal(await approve(item, phone, { match: 'xx' }), 'approval.match_failed');
          else assert.equal((await approve(item, phone, { match: number })).status, 200);
        }
        assert.deepEqual([await stateOf(wrong), await stateOf(right)], ['denied', 'approved']);
      });

    it('whether it was scanned is a boolean', async () => {
      const login = await waiting();
      const code = await codeOf(login);
      for (const scanned of ['true', 1, null]) {
        const field = { kind: 'scanned', text: 'scanned must be a boolean.' };
        await assertRefusal(await phone.post('/approvals/claim', { code, scanned }), 'device.invalid_request', field);
      }
      await claimed(code);
    });

    it('approving stays with the key gated by user verification', async () => {
      const item = await claimed(await codeOf(await waiting()));
      const response = await phone.post(`/approvals/${item.id}/approve`, { context_sha256: item.context_sha256 }, { purpose: 'pop' });
      await assertRefusal(response, 'approval.user_verification_required');
    });

    it('50 parallel claims by two devices of the person: one succeeds', async () => {
      const second = await enrolledPhone(server, user);
      const login = await waiting();
      const codes = [await codeOf(login), await codeOf(login)];
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => claim(codes[index % 2]!, index % 4 < 2 ? phone : second)));
      assert.deepEqual(
        [200, 404].map((status) => answers.filter((answer) => answer.status === status).length),
        [1, 49],
      );
      const bodies = await Promise.all(answers.filter((answer) => answer.status === 404).map((answer) => answer.text()));
      assert.equal(new Set(bodies).size, 1);
    });

    it('bound to the first claimer: other devices of the person neither list nor decide it, with the number neither', async () => {
      const second = await enrolledPhone(server, user);
      const login = await waiting();
      const { number } = (await (await login.get()).json()) as { number: string };
      const [seen] = await list(second);
      const item = await claimed(await codeOf(login));
      assert.deepEqual(await list(second), []);
      await refused(await approve(seen!, second, { match: number }));
      await refused(await second.post(`/approvals/${item.id}/deny`, { reason: 'other' }));
      assert.equal((await approve(item)).status, 200);
    });

    it('one answer for every code that does not work', async () => {
      const other = await enrolledPhone(server, await createUser(server, `other${people}@example.com`));
      const login = await waiting();
      const code = await codeOf(login);
      const [named, expires, mac] = code.split('.') as [string, string, string];
      const later = (Number.parseInt(expires, 36) + 60_000).toString(36);
      const bodies = new Set<string>();
      for (const wrong of ['x', `${named}.${later}.${mac}`, `${'A'.repeat(22)}.${expires}.${mac}`, `${code}A`, code.toUpperCase(), '.'])
        bodies.add(await refused(await claim(wrong)));
      bodies.add(await refused(await claim(code, other)));
      bodies.add(await refused(await claim(await codeOf(await waiting(`nobody${people}@example.com`)))));
      await claimed(code);
      bodies.add(await refused(await claim(code)));
      assert.equal(bodies.size, 1);
    });

    it('expired: at 30 s it is refused, a code of the same page made later works', async () => {
      const login = await waiting();
      const code = await codeOf(login);
      await server.clock.advance(30_000);
      await refused(await claim(code));
      await claimed(await codeOf(login));
    });

    it('another tenant: its phones and its pages know nothing of the code', async () => {
      const foreign = await createTestTenant(server, { settings: open });
      const person = await createUser(server, `foreign${people}@example.com`, foreign.id);
      const foreignPhone = await enrolledPhone(server, person, createPhone(foreign.baseUrl, server.clock.nowMs));
      const code = await codeOf(await waiting());
      await refused(await claim(code, foreignPhone));
      await claimed(code);
    });

    it('suspended: the key counts as revoked, and the finish is refused for whoever was suspended after approving', async () => {
      const code = await codeOf(await waiting());
      await setUserState(server, user, 'suspended');
      await assertRefusal(await claim(code), 'device.key_revoked');
      await setUserState(server, user, 'active');
      const login = await waiting();
      await approve(await claimed(await codeOf(login)));
      await setUserState(server, user, 'suspended');
      const finished = (await (await login.post('finish')).json()) as { redirect_to: string };
      assert.match(finished.redirect_to, /error=access_denied/);
    });

    it('not_me: denies, counts towards the block, and blocked sign-ins cannot be claimed', async () => {
      for (let times = 0; times < 2; times += 1) {
        const login = await waiting();
        const item = await claimed(await codeOf(login));
        assert.equal((await phone.post(`/approvals/${item.id}/deny`, { reason: 'not_me' })).status, 200);
        assert.equal(await stateOf(login), 'denied');
      }
      const login = await waiting();
      await refused(await claim(await codeOf(login)));
      assert.equal(await stateOf(login), 'waiting');
    });

    it('another method, cancelling and the end of the sign-in take the code away', async () => {
      const chosen = await waiting();
      const first = await codeOf(chosen);
      await chosen.post('method', { method: 'email_pin' });
      await refused(await claim(first));
      await assertRefusal(await chosen.get('/qr'), 'login.conflict');
      const cancelled = await waiting();
      const second = await codeOf(cancelled);
      await cancelled.post('cancel');
      await refused(await claim(second));
      const late = await waiting();
      await server.clock.advance(290_000);
      const third = await codeOf(late);
      await server.clock.advance(11_000);
      await refused(await claim(third));
      await assertRefusal(await late.get('/qr'), 'login.conflict');
    });

    it('without the cookie there is no code; HEAD and a missing or long code are plain refusals', async () => {
      const login = await waiting();
      await assertRefusal(await fetch(`${login.location}/qr`), 'login.not_found');
      const field = { kind: 'code', text: /./ };
      await assertRefusal(await phone.post('/approvals/claim', {}), 'device.invalid_request', field);
      await refused(await claim('c'.repeat(approvalCodeCharsMax)));
      await assertRefusal(await claim('c'.repeat(approvalCodeCharsMax + 1)), 'device.invalid_request', field);
    });

    it('the page shows the code while nobody has scanned it, for people nobody knows too', async () => {
      const login = await waiting();
      assert.doesNotMatch(await (await login.page()).text(), /id="open-app"/); // there is no app to open
      await changeSettings(server, { ...open, app_links: { apple: ['ABCDE12345.com.example.app'] } });
      const decoy = await (await (await waiting(`nobody${people}@example.com`)).page()).text();
      const page = await (await login.page()).text();
      for (const markup of [page, decoy]) {
        assert.match(markup, /<svg class="qr" viewBox="0 0 \d+ \d+" role="img" aria-label="QR code of this sign-in"/);
        assert.match(markup, /<a class="button link" id="open-app" href="[^"]+\/scan#v=1&#38;c=[\w.-]+">/);
        assert.ok(Buffer.byteLength(markup) < 30_000);
      }
      const shown = /#v=1&#38;c=([\w.-]+)"/.exec(page)![1]!;
      await claimed(shown);
      const after = await (await login.page()).text();
      assert.doesNotMatch(after, /class="qr" viewBox|id="open-app"|id="approve-number"/);
      assert.match(after, /The app has read the code/);
    });

    it('the claim is in the audit trail, the code nowhere', async () => {
      const code = await codeOf(await waiting());
      const item = await claimed(code);
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('audit_events').selectAll().execute(),
      );
      const found = rows.find((row) => row.type === 'approval.claimed' && row.target === `approval:${item.id}`);
      assert.equal(found?.actor, `user:${user.id}`);
      assert.ok(!JSON.stringify(rows).includes(code));
      assert.ok(!server.logLines.join('\n').includes(code));
    });
  });
}
