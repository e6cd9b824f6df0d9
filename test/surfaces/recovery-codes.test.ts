// Recovery codes (design 14, 3): made at the account page, shown once, used once each behind “Lost your phone?”; a wrong one, a used
// one and one of nobody are one answer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recoveryCodeCharsMax, recoveryCodesMade } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { textOf, withoutRequest } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone } from '../support/enrolled-phone.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestClient } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { decodeJwt, exchange, tokensOf } from '../support/oidc.ts';
import { createPhone } from '../support/phone.ts';
import { byPasskey, codesIn, makeCodes, type Recoverable } from '../support/recovery.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const settings = {
  login_methods: ['passkey', 'phone', 'email_pin'],
  rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate },
};

for (const database of databases)
  describe(`recovery codes on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server, { settings });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const change = (changes: Json): Promise<void> => changeSettings(server, { ...settings, ...changes }, tenant.id);
    const newPerson = (): Promise<Recoverable> => byPasskey(server, managed, tenant);
    const begin = async (identifier: string, acrValues?: string): Promise<TestLogin> => {
      const login = await beginLogin(server, tenant, client, acrValues === undefined ? {} : { acrValues });
      await jsonOf(await login.post('identify', { identifier }), 200);
      return login;
    };
    const finish = async (login: TestLogin): Promise<URL> =>
      new URL(String((await jsonOf(await login.post('finish'), 200))['redirect_to']));
    const byCode = (person: { readonly email: string }, code: string) =>
      openApp(server, 'account', managed, person.email, async (login) => {
        await jsonOf(await login.post('identify', { identifier: person.email }), 200);
        assert.deepEqual(await jsonOf(await login.post('recovery', { code }), 200), { state: 'approved' });
        return finish(login);
      });

    it('ten are made after a passkey sign-in, shown in that answer and never again, told by mail, hashed at rest', async () => {
      const person = await newPerson();
      assert.match(await textOf(await person.visitor.page('/recovery-codes'), 200), /id="none"[\s\S]*id="make-codes"/);
      const codes = await makeCodes(person);
      assert.equal(codes.length, recoveryCodesMade);
      for (const code of codes) assert.match(code, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
      const page = await textOf(await person.visitor.page('/recovery-codes'), 200);
      assert.deepEqual(codesIn(page), []);
      assert.match(page, /id="codes-left">10</);
      const [mail] = await mailsTo(server, person.email);
      assert.match(mail?.subject ?? '', /^New recovery codes for your/);
      assert.ok(codes.every((code) => !mail?.text.includes(code)));
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('recovery_codes').selectAll().where('tenant_id', '=', tenant.id).execute(),
      );
      const stored = JSON.stringify(rows);
      assert.ok(codes.every((code) => !stored.includes(code) && !stored.includes(code.replace('-', ''))));
      const shown = await managed.make<Json>('GET', `/users/${person.id}/recovery-codes`);
      assert.equal(shown['remaining'], 10);
      assert.match(String(shown['made_at']), /^\d{4}-\d\d-\d\dT/);
      assert.deepEqual(Object.keys(shown).sort(), ['made_at', 'remaining']);
    });

    it('one signs in: acr otp, told by mail, counted down, once; in either case, with or without the dash, O for zero', async () => {
      const person = await newPerson();
      const [first, second, third] = await makeCodes(person);
      const login = await begin(person.email);
      assert.deepEqual(await jsonOf(await login.post('recovery', { code: first }), 200), { state: 'approved' });
      const code = (await finish(login)).searchParams.get('code') ?? '';
      const { claims } = decodeJwt((await tokensOf(await exchange(tenant, client, code))).id_token!);
      assert.deepEqual([claims['sub'], claims['acr'], claims['amr']], [person.id, 'otp', ['otp', 'recovery']]);
      const mail = (await mailsTo(server, person.email)).find(({ subject }) => subject.startsWith('A recovery code signed in'));
      assert.match(mail?.text ?? '', /You have 9 codes left\./);
      assert.ok(mail?.text.includes(`${managed.baseUrl}/account`));
      assert.equal((await managed.make<Json>('GET', `/users/${person.id}/recovery-codes`))['remaining'], 9);
      const again = await begin(person.email);
      await assertRefusal(await again.post('recovery', { code: first }), 'pin.invalid', { fields: { attempts_left: 4 } });
      assert.equal((await again.post('recovery', { code: ` ${second!.toLowerCase().replace('-', '')} ` })).status, 200);
      const typed = third!.replaceAll('0', 'o').replaceAll('1', 'l');
      assert.equal((await (await begin(person.email)).post('recovery', { code: typed })).status, 200);
    });

    it('pin.invalid: wrong, used, replaced, another person’s, nobody’s: one answer, and one page before it', async () => {
      const person = await newPerson();
      const [replaced] = await makeCodes(person);
      const [used] = await makeCodes(person);
      assert.equal((await (await begin(person.email)).post('recovery', { code: used })).status, 200);
      const [foreign] = await makeCodes(await newPerson());
      const without = await createUser(server.gatehouse.services, tenant);
      const cases = [
        ...[replaced, used, foreign, 'AAAAA-AAAAA'].map((code) => [person.email, code] as const),
        [without.email, 'AAAAA-AAAAA'],
        ['nobody@example.com', used],
        ['nobody-else', 'x'],
      ] as const;
      const bodies = new Set<string>();
      const pages = new Set<string>();
      for (const [identifier, code] of cases) {
        const login = await begin(identifier);
        const page = await textOf(await login.page('?step=recovery'), 200);
        pages.add(withoutRequest(page).replaceAll(identifier, '').replaceAll(login.location.split('/').at(-1)!, ''));
        bodies.add(await assertRefusal(await login.post('recovery', { code: code! }), 'pin.invalid', { fields: { attempts_left: 4 } }));
      }
      assert.equal(bodies.size, 1);
      assert.equal(pages.size, 1);
    });

    if (database === 'sqlite')
      it('a wrong code, a used one and one of nobody run the same statements', async () => {
        const person = await newPerson();
        const [used] = await makeCodes(person);
        assert.equal((await (await begin(person.email)).post('recovery', { code: used! })).status, 200);
        const without = await createUser(server.gatehouse.services, tenant);
        const cases = [
          [person.email, 'AAAAA-AAAAA'],
          [person.email, used!],
          [without.email, 'AAAAA-AAAAA'],
          ['nobody-timed@example.com', 'AAAAA-AAAAA'],
        ] as const;
        const run: (readonly string[])[] = [];
        for (const [identifier, code] of cases) {
          const login = await begin(identifier);
          const all = await statementsOf(async () => assert.equal((await login.post('recovery', { code })).status, 401));
          // Others run beside it: summaries of refusals are written now and then, and looks for deliveries that are due.
          const own = all.filter((text) => /^\s*insert/i.test(text) || !/next_attempt_at|config_epochs/.test(text));
          run.push(own.filter((text) => /recovery_codes|pin_mailboxes|login_transactions|users|user_emails|outbox/.test(text)));
        }
        assert.ok(run[0]!.length > 3 && run[0]!.some((text) => text.includes('recovery_codes')), String(run[0]));
        for (const statements of run) assert.deepEqual(statements, run[0]);
      });

    it('pin.locked: the attempts of a sign-in, then those of a day, for a person and for nobody alike; a success refills the day', async () => {
      await change({ pin: { attempts_max: 3, failures_per_day_max: 5 } });
      const person = await newPerson();
      const [good, better] = await makeCodes(person);
      const attempts = async (login: TestLogin, count: number): Promise<readonly unknown[]> => {
        const seen: unknown[] = [];
        for (let index = 0; index < count; index += 1) {
          const body = (await (await login.post('recovery', { code: 'AAAAA-AAAAA' })).json()) as Json;
          seen.push(body['attempts_left'] ?? body['error']);
        }
        return seen;
      };
      for (const identifier of [person.email, 'nobody-here@example.com']) {
        const first = await begin(identifier);
        assert.deepEqual(await attempts(first, 4), [2, 1, 'pin_locked', 'pin_locked']);
        if (identifier === person.email) await assertRefusal(await first.post('recovery', { code: good! }), 'pin.locked');
        const second = await begin(identifier);
        assert.deepEqual(await attempts(second, 3), [1, 'pin_locked', 'pin_locked']);
        await assertRefusal(await (await begin(identifier)).post('recovery', { code: good! }), 'pin.locked');
      }
      await server.clock.advance(24 * 3600 * 1000 + 1000);
      const next = await begin(person.email);
      assert.deepEqual(await attempts(next, 2), [2, 1]);
      assert.equal((await next.post('recovery', { code: good! })).status, 200);
      assert.deepEqual(await attempts(await begin(person.email), 3), [2, 1, 'pin_locked'], 'the day began anew');
      await assertRefusal(await (await begin(person.email)).post('recovery', { code: '' }), 'login.invalid_request', {
        kind: 'code',
        text: /^code: expected/,
      });
      await server.clock.advance(24 * 3600 * 1000 + 1000);
      assert.equal((await (await begin(person.email)).post('recovery', { code: better! })).status, 200);
      await change({});
    });

    it('strangers who spend the day lock out no browser in which the person signed in', async () => {
      await change({ pin: { failures_per_day_max: 2 } });
      const person = await newPerson();
      const [first, second] = await makeCodes(person);
      const own = await begin(person.email);
      await jsonOf(await own.post('recovery', { code: first! }), 200);
      const finished = await own.post('finish');
      const known = finished.headers
        .getSetCookie()
        .find((line) => line.startsWith('gh-known-'))!
        .split(';', 1)[0]!;
      const stranger = await begin(person.email);
      for (let index = 0; index < 2; index += 1) await stranger.post('recovery', { code: 'AAAAA-AAAAA' });
      await assertRefusal(await (await begin(person.email)).post('recovery', { code: second! }), 'pin.locked');
      const again = await begin(person.email);
      const headers = { cookie: `${again.cookie}; ${known}` };
      assert.deepEqual(await jsonOf(await again.post('recovery', { code: second! }, headers), 200), { state: 'approved' });
      await change({});
    });

    it('guessing codes spends nothing of the mailed codes', async () => {
      await change({ pin: { failures_per_day_max: 2 } });
      const person = await newPerson();
      await makeCodes(person);
      const login = await begin(person.email);
      for (let index = 0; index < 3; index += 1) await login.post('recovery', { code: 'AAAAA-AAAAA' });
      await assertRefusal(await login.post('recovery', { code: 'AAAAA-AAAAA' }), 'pin.locked');
      await jsonOf(await login.post('method', { method: 'email_pin' }), 200);
      await assertRefusal(await login.post('pin', { pin: 'x' }), 'pin.invalid', { fields: { attempts_left: 1 } });
      await change({});
    });

    it('recoveryCodeCharsMax: one more is a wrong field; management.rate_limited: one attempt more than pin_attempts_per_ip', async () => {
      const login = await begin((await newPerson()).email);
      await assertRefusal(await login.post('recovery', { code: 'x'.repeat(recoveryCodeCharsMax) }), 'pin.invalid', {
        fields: { attempts_left: 4 },
      });
      await assertRefusal(await login.post('recovery', { code: 'x'.repeat(recoveryCodeCharsMax + 1) }), 'login.invalid_request', {
        kind: 'code',
        text: /^code: expected/,
      });
      await change({ rate_limits: { ...settings.rate_limits, pin_attempts_per_ip: { limit: 2, period_seconds: 60 } } });
      const limited = await begin('nobody@example.com');
      assert.equal((await limited.post('recovery', { code: 'x' })).status, 401);
      assert.equal((await limited.post('recovery', { code: 'x' })).status, 401);
      assert.equal((await limited.post('recovery', { code: 'x' })).status, 429);
      await change({});
    });

    it('login.conflict: before anybody is named, where more is asked for, where the tenant has none, and afterwards', async () => {
      const person = await newPerson();
      const [first, second, third] = await makeCodes(person);
      const unnamed = await beginLogin(server, tenant, client);
      await assertRefusal(await unnamed.post('recovery', { code: first! }), 'login.conflict');
      const strong = await begin(person.email, 'phone');
      assert.doesNotMatch(await textOf(await strong.page(), 200), /lost-phone/);
      await assertRefusal(await strong.post('recovery', { code: first! }), 'login.conflict');
      const done = await begin(person.email);
      assert.match(await textOf(await done.page(), 200), /id="lost-phone" href="[^"]+\?step=recovery">Lost your phone\?</);
      assert.equal((await done.post('recovery', { code: first! })).status, 200);
      await assertRefusal(await done.post('recovery', { code: second! }), 'login.conflict');
      await change({ recovery_codes: false });
      const off = await begin(person.email);
      assert.doesNotMatch(await textOf(await off.page(), 200), /lost-phone/);
      await assertRefusal(await off.post('recovery', { code: second! }), 'login.conflict');
      assert.equal((await person.visitor.page('/recovery-codes')).status, 404);
      assert.equal((await person.visitor.submit('/recovery-codes', {})).status, 404);
      assert.doesNotMatch(await textOf(await person.visitor.page(''), 200), /recovery-codes/);
      await change({ login_methods: ['email_pin'] });
      assert.equal((await person.visitor.page('/recovery-codes')).status, 404);
      await change({});
      assert.equal((await (await begin(person.email)).post('recovery', { code: second! })).status, 200);
      assert.equal((await (await begin(person.email)).post('recovery', { code: third! })).status, 200);
    });

    it('the page without script: the code is typed, a wrong one is said beside it, the right one leads on', async () => {
      const person = await newPerson();
      const [code] = await makeCodes(person);
      const login = await begin(person.email);
      const refused = await textOf(await login.submit('recovery', { code: 'AAAAA-AAAAA' }), 401);
      assert.match(refused, /role="alert">That code is wrong\. 4 attempts are left\.[\s\S]*name="code"[^>]*aria-invalid="true"/);
      assert.match(await textOf(await login.submit('recovery', { code: '' }), 400), /Enter one of your recovery codes/);
      const taken = await login.submit('recovery', { code: code! });
      assert.deepEqual([taken.status, taken.headers.get('location')], [303, login.location]);
    });

    it('new ones need a fresh sign-in by phone or passkey: no mailed code, no recovery code, no old session', async () => {
      const person = await newPerson();
      const [code] = await makeCodes(person);
      const { visitor: byMail } = await openApp(server, 'account', managed, (await createUser(server.gatehouse.services, tenant)).email);
      const { visitor: recovered, first } = await byCode(person, code!);
      assert.match(first.text, /recovery code/);
      await server.clock.advance(16 * 60 * 1000);
      for (const visitor of [byMail, recovered, person.visitor]) {
        const page = await textOf(await visitor.page('/recovery-codes'), 200);
        assert.match(page, /id="sign-in-again"/);
        assert.doesNotMatch(page, /make-codes/);
        const refused = await textOf(await visitor.submit('/recovery-codes', {}), 400);
        assert.deepEqual(codesIn(refused), []);
      }
      assert.equal((await managed.make<Json>('GET', `/users/${person.id}/recovery-codes`))['remaining'], 9);
      const again = await recovered.page('/recovery-codes/sign-in');
      const asked = new URL(again.headers.get('location') ?? '').searchParams;
      assert.deepEqual([asked.get('acr_values'), asked.get('prompt')], ['phone', 'login']);
    });

    it('the lost phone: mail alone neither removes nor adds one where a stronger one is; a recovery code does both', async () => {
      await change({ device: { additional_device: 'existing_device' } });
      const person = await newPerson();
      const [code] = await makeCodes(person);
      const phone = await enrolledPhone(server, { ...person, tenant: tenant.id }, createPhone(managed.baseUrl, server.clock.nowMs));
      const { visitor: byMail } = await openApp(server, 'account', managed, person.email);
      const passkeyPath = /href="[^"]*\/account(\/passkeys\/[^"/]+)"/.exec(
        await textOf(await byMail.page('/passkeys'), 200).then((text) => text.replace(/\/passkeys\/new/g, '')),
      )![1]!;
      for (const [path, wayBack] of [
        [`/devices/${phone.deviceId}/remove`, '/devices/sign-in'],
        ['/devices/add', '/devices/sign-in'],
        [`${passkeyPath}/revoke`, '/passkeys/prove'],
      ] as const) {
        const refused = await textOf(await byMail.submit(path, {}), 400);
        assert.match(refused, /phone, a passkey or a recovery code/, path);
        assert.match(refused, new RegExp(`id="sign-in-again" href="[^"]*/account${wayBack}"`), path);
        const again = await byMail.page(wayBack);
        assert.equal(new URL(again.headers.get('location') ?? '').searchParams.get('prompt'), 'login');
      }
      assert.equal((await phone.get('/self')).status, 200);
      const { visitor } = await byCode(person, code!);
      assert.equal((await visitor.submit(`/devices/${phone.deviceId}/remove`, {})).status, 303);
      await assertRefusal(await phone.get('/self'), 'device.key_revoked');
      const added = await visitor.submit('/devices/add', {});
      assert.match(added.headers.get('location') ?? '', /\/account\/devices\/add\?enrollment=/);
      assert.match(await textOf(await visitor.page('/passkeys/new'), 200), /data-new-passkey/);
      assert.match(await textOf(await visitor.page('/activity'), 200), /A recovery code was used to sign in\./);
      await change({});
    });

    it('40 posts of one code in 40 sign-ins at once: one is let in', async () => {
      await change({ pin: { failures_per_day_max: 100 } });
      const person = await newPerson();
      const [code] = await makeCodes(person);
      const logins = await Promise.all(Array.from({ length: 40 }, () => begin(person.email)));
      const statuses = await Promise.all(logins.map(async (login) => (await login.post('recovery', { code: code! })).status));
      assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 39 }, () => 401)]);
      const finished = await Promise.all(logins.map(async (login) => (await login.post('finish')).status));
      assert.equal(finished.filter((status) => status === 200).length, 1);
      await change({});
    });

    it('30 wrong codes in one sign-in at once: five are looked at', async () => {
      const login = await begin((await newPerson()).email);
      const errors = await Promise.all(
        Array.from({ length: 30 }, async () => ((await (await login.post('recovery', { code: 'AAAAA-AAAAA' })).json()) as Json)['error']),
      );
      assert.equal(errors.filter((error) => error === 'pin_invalid').length, 4);
      assert.equal(errors.filter((error) => error === 'pin_locked').length, 26);
    });

    it('codes made twice at once: ten work afterwards; a deleted person’s are gone', async () => {
      const person = await newPerson();
      const pages = await Promise.all(Array.from({ length: 5 }, async () => makeCodes(person)));
      assert.equal(new Set(pages.flat()).size, 50);
      assert.equal((await managed.make<Json>('GET', `/users/${person.id}/recovery-codes`))['remaining'], 10);
      assert.equal((await managed.call('DELETE', `/users/${person.id}`)).status, 204);
      const left = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('recovery_codes').select('user_id').where('user_id', '=', person.id).execute(),
      );
      assert.deepEqual(left, []);
    });

    it('management: how many are left and since when, and nothing else; unknown people are unknown', async () => {
      const person = await createUser(server.gatehouse.services, tenant);
      assert.deepEqual(await managed.make('GET', `/users/${person.id}/recovery-codes`), { remaining: 0, made_at: null });
      await assertRefusal(await managed.call('GET', '/users/nobody/recovery-codes'), 'management.not_found');
    });
  });
