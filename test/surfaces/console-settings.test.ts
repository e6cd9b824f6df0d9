// The settings in the console (design 23, part 4): pages by what they decide, a form a section, times in people's units, ways to sign in
// to tick and to order, what differs from the default marked, and one field's fault at that field.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fieldsOfSection, settingsPages } from '../../src/console/settings/setting-sections.ts';
import { leavesOf } from '../../src/domain/field.ts';
import { settingFields } from '../../src/domain/tenant/settings.ts';
import { createPerson } from '../support/account.ts';
import { createConsoleTenant, fieldsOfForm, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { beginLogin } from '../support/login.ts';
import { createPhone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createWebPhone } from '../support/web-phone.ts';

type Form = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

const noticeOf = (page: string): string | undefined => /id="notice">([^<]*)</.exec(page)?.[1];
const wrongAt = (page: string): readonly (readonly [id: string, text: string])[] =>
  [...page.matchAll(/<p class="wrong" id="field-([a-z_-]+)-wrong">([^<]*)</g)].map(([, id, text]) => [id!, text!]);

it('every setting that a form shows stands in exactly one section', () => {
  const placed = settingsPages.flatMap(({ sections }) => sections.flatMap((section) => fieldsOfSection(section).map(({ path }) => path)));
  const shown = leavesOf(settingFields).flatMap(([path, { kind }]) => (kind.input === 'none' ? [] : [path]));
  assert.deepEqual(placed.toSorted(), shown.toSorted());
});

for (const database of databases) {
  describe(`settings in the console on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());

    const show = async (page: string): Promise<string> => (await visitor.page(`/settings/${page}`)).text();
    const settings = (): Promise<Json> => visitor.tenant.make('GET', '/settings');
    /** What a browser would send of a section. */
    const formOf = async (page: string, section: string): Promise<Form> => fieldsOfForm(await show(page), section);
    const save = async (page: string, section: string, changes: Form = {}, without: readonly string[] = []): Promise<Response> => {
      const typed = { ...(await formOf(page, section)), ...changes };
      return visitor.submit(`/settings/${page}`, Object.fromEntries(Object.entries(typed).filter(([name]) => !without.includes(name))));
    };
    const refused = async (answer: Promise<Response>): Promise<string> => {
      const response = await answer;
      assert.equal(response.status, 400);
      return response.text();
    };

    it('each page shows its settings in people’s units; saved as they are, nothing changes', async () => {
      const before = await settings();
      for (const { path, sections } of settingsPages) {
        const page = await show(path);
        assert.doesNotMatch(page, /in seconds|<textarea name="(?:login_methods|extra_grants|device\.allowed_algs)"/, path);
        for (const { id } of sections) assert.equal((await save(path, id)).status, 303, `${path} ${id}`);
      }
      assert.deepEqual(await settings(), before);
      assert.match(
        await show('tokens'),
        /name="access_token_lifetime_seconds"[^>]* value="15"[^>]*> <select[^>]*><option>seconds<\/option><option selected>minutes</,
      );
    });

    it('a time is a number and a unit: a section that is saved leaves the others alone', async () => {
      const before = await settings();
      const name = 'access_token_lifetime_seconds';
      for (const [text, unit, seconds] of [
        ['2', 'hours', 7_200],
        ['1.1', 'hours', 3_960],
        ['90', 'seconds', 90],
        ['1', 'days', 86_400],
      ] as const) {
        assert.equal((await save('tokens', 'tokens', { [name]: text, [`${name}.unit`]: unit })).status, 303);
        assert.deepEqual(await settings(), { ...before, [name]: seconds });
      }
      for (const [text, unit, says] of [
        ['0', 'minutes', /from 1 second to 3,650 days/],
        ['-1', 'minutes', /from 1 second/],
        ['3651', 'days', /to 3,650 days/],
        ['0.5', 'seconds', /whole seconds/],
        ['', 'minutes', /whole seconds/],
        ['ten', 'minutes', /no number/],
        ['9'.repeat(400), 'days', /no number/],
        ['5', 'fortnights', /one of days, hours, minutes, seconds/],
        ['5', '__proto__', /one of days/],
      ] as const) {
        const page = await refused(save('tokens', 'tokens', { [name]: text, [`${name}.unit`]: unit }));
        const [wrong, ...others] = wrongAt(page);
        assert.equal(wrong?.[0], name, text);
        assert.match(wrong?.[1] ?? '', says);
        assert.deepEqual(others, []);
        assert.ok(page.includes(`name="${name}" id="field-${name}" value="${text}"`), text);
      }
      assert.deepEqual(await settings(), { ...before, [name]: 86_400 });
      const response = await visitor.submit('/settings/tokens', { [name]: '60' });
      assert.equal(response.status, 400);
      assert.match(noticeOf(await response.text()) ?? '', /Nothing is saved/);
      assert.equal((await visitor.submit('/settings/tokens', { section: 'ways', login_methods: 'phone' })).status, 400);
      assert.equal((await visitor.submit('/settings/nowhere', { section: 'ways' })).status, 404);
      assert.equal((await visitor.page('/settings/nowhere')).status, 404);
    });

    it('ways to sign in are ticked and ordered, with what each costs; the sign-in page follows the order', async () => {
      const { tenant } = visitor;
      const order = async (): Promise<unknown> => (await settings())['login_methods'];
      const ways = await show('sign-in');
      for (const cost of [/Cannot be phished/, /push credentials/, /a mail for each sign-in/]) assert.match(ways, cost);
      const ticked = { login_methods: 'email_pin passkey phone' };
      assert.equal((await save('sign-in', 'ways', ticked)).status, 303);
      assert.deepEqual(await order(), ['email_pin', 'phone', 'passkey']); // the places that stood there
      // One that is moved to a place goes before who was there, and behind when it is moved down.
      assert.equal((await save('sign-in', 'ways', { 'login_methods.place.passkey': '1' })).status, 303);
      assert.deepEqual(await order(), ['passkey', 'email_pin', 'phone']);
      assert.equal((await save('sign-in', 'ways', { 'login_methods.place.passkey': '2' })).status, 303);
      assert.deepEqual(await order(), ['email_pin', 'passkey', 'phone']);
      const { client_id: clientId } = await tenant.make('POST', '/clients', { name: 'Shop', redirect_uris: ['https://shop.example/cb'] });
      const stored = (await server.gatehouse.services.tenants.bySlug(tenant.slug))!;
      const login = await beginLogin(server, stored, { clientId: String(clientId) } as Parameters<typeof beginLogin>[2], {
        redirectUri: 'https://shop.example/cb',
      }); // its id is all that is asked for
      const { methods } = (await (await login.post('identify', { identifier: 'somebody@x.example' })).json()) as {
        methods: readonly string[];
      };
      assert.deepEqual(methods, ['phone', 'passkey', 'email_pin']); // to programs as ever
      const shown = await (await login.page()).text();
      assert.deepEqual(
        [...shown.matchAll(/name="method" value="(\w+)"/g)].map(([, name]) => name),
        ['email_pin', 'passkey', 'phone'],
      );
      const page = await refused(
        save('sign-in', 'ways', {}, ['login_methods']).then(() =>
          visitor.submit('/settings/sign-in', { section: 'ways', login_methods: '' }),
        ),
      );
      assert.deepEqual(
        wrongAt(page).map(([id]) => id),
        ['login_methods'],
      );
      assert.deepEqual(await order(), ['email_pin', 'passkey', 'phone']);
      assert.equal((await save('sign-in', 'ways', { login_methods: 'email_pin' })).status, 303);
    });

    it('what differs from the default is marked, on its page and on the first; Reset goes back to it, one setting at a time', async () => {
      const { tenant } = visitor;
      await tenant.make('PATCH', '/settings', {
        access_token_lifetime_seconds: 600,
        pin: { length: 8 },
        rate_limits: { login_starts_per_ip: { limit: 90 } },
      });
      const changed = await settings();
      const overview = await (await visitor.page('/settings')).text();
      for (const name of ['Lifetime of access tokens', 'Digits', 'Sign-ins of an address']) assert.ok(overview.includes(name), name);
      const reset = (path: string): string => `form="reset" name="reset" value="${path}"`;
      const tokens = await show('tokens');
      assert.match(tokens, /<span class="badge plain">changed<\/span> Default: 15 minutes <button/);
      assert.ok(tokens.includes(reset('access_token_lifetime_seconds')) && !tokens.includes(reset('id_token_lifetime_seconds')));
      assert.match(await show('mail'), /6 to 10\. Default: 6 <button/);
      assert.match(await show('limits'), /Default: 60 in 1 minute <button[^>]*value="rate_limits\.login_starts_per_ip"/);
      const after = await visitor.act('/settings/tokens', { reset: 'access_token_lifetime_seconds' });
      assert.equal(noticeOf(after), 'Lifetime of access tokens: back to the default.');
      assert.ok(!after.includes(reset('access_token_lifetime_seconds')));
      assert.deepEqual(await settings(), { ...changed, access_token_lifetime_seconds: 900 });
      await visitor.act('/settings/limits', { reset: 'rate_limits.login_starts_per_ip' });
      await visitor.act('/settings/mail', { reset: 'pin.length' });
      const { pin, rate_limits: limits } = (await settings()) as { pin: { length: number }; rate_limits: Json }; // the API's shape
      assert.deepEqual([pin.length, limits['login_starts_per_ip']], [6, { limit: 60, period_seconds: 60 }]);
      for (const path of ['nothing', 'push.apns', '__proto__', 'pin', 'access_token_lifetime_seconds'])
        assert.equal((await visitor.submit('/settings/phones', { reset: path })).status, 400, path);
    });

    it('a fault is said at its field, and at the line of several that is wrong and no other', async () => {
      const hosts = 'client_hosts.trusted';
      for (const [text, line] of [
        ['host\nhost.example\nnot a host\nexample', 3],
        ['x.example\n*.*.example', 2],
      ] as const) {
        const page = await refused(save('tokens', 'strangers', { [hosts]: text }));
        const [wrong, ...others] = wrongAt(page);
        assert.equal(wrong?.[0], 'client_hosts-trusted');
        assert.match(wrong?.[1] ?? '', new RegExp(`^Line ${line}: `), text);
        assert.deepEqual(others, []);
      }
      const limit = await refused(save('limits', 'people', { 'rate_limits.login_starts_per_ip.limit': '0' }));
      assert.deepEqual(
        wrongAt(limit).map(([id]) => id),
        ['rate_limits-login_starts_per_ip'],
      );
    });

    it('phones in browsers that would approve no more are counted and asked about before they are switched off', async () => {
      const { tenant } = visitor;
      const allowed = async (): Promise<unknown> => ((await settings()) as { device: { web_phones: boolean } }).device.web_phones;
      const off = (changes: Form = {}): Promise<Response> => save('phones', 'phones', changes, ['device.web_phones']);
      for (let time = 0; time < 2; time += 1) {
        const phone = createWebPhone(tenant.baseUrl, server.clock.nowMs);
        await enrolledPhone(server, await createPerson(tenant), phone, { platform: 'web', name: 'Firefox' });
      }
      await enrolledPhone(server, await createPerson(tenant), createPhone(tenant.baseUrl, server.clock.nowMs));
      assert.equal((await tenant.make<{ directory: Record<string, number> }>('GET', '/statistics')).directory['web_phones'], 2);
      const question = await refused(off());
      assert.match(question, /2 phones in browsers will approve no more\. Nothing is saved yet/);
      assert.equal(await allowed(), true);
      assert.equal((await save('phones', 'attestation', { 'attestation.mode': 'enforce' })).status, 400);
      assert.equal((await off({ sure: /name="sure" value="(\w+)"/.exec(question)?.[1] ?? '' })).status, 303);
      assert.equal(await allowed(), false);
      assert.equal((await off()).status, 303); // nothing changes for anybody now
    });

    it('single sign-on is one of three choices, the last with two times', async () => {
      const sso = async (): Promise<unknown> => (await settings())['sso_session'];
      const submit = (changes: Form): Promise<Response> => save('sign-in', 'sso', changes);
      const [idle, absolute] = ['sso_session.idle_seconds', 'sso_session.absolute_seconds'];
      assert.equal((await formOf('sign-in', 'sso'))['sso_session'], 'off');
      assert.equal((await submit({ sso_session: 'browser' })).status, 303);
      assert.equal(await sso(), 'browser');
      // The times stand there already, so that the choice alone is a valid one.
      assert.equal((await submit({ sso_session: 'time' })).status, 303);
      assert.deepEqual(await sso(), { idle_seconds: 28_800, absolute_seconds: 86_400 });
      const times = { sso_session: 'time', [idle]: '1', [`${idle}.unit`]: 'minutes', [absolute]: '90', [`${absolute}.unit`]: 'days' };
      assert.equal((await submit(times)).status, 303);
      assert.deepEqual(await sso(), { idle_seconds: 60, absolute_seconds: 7_776_000 });
      const shown = await formOf('sign-in', 'sso');
      assert.deepEqual({ ...times, ...shown }, shown);
      // Refused: the page holds what was typed, and nothing is stored.
      for (const wrong of [
        { [idle]: '59', [`${idle}.unit`]: 'seconds' },
        { [absolute]: '91' },
        { [idle]: '700', [absolute]: '600', [`${absolute}.unit`]: 'minutes' },
        { [idle]: '' },
        { sso_session: 'for ever' },
      ]) {
        const page = await refused(submit({ ...times, ...wrong }));
        assert.deepEqual(
          wrongAt(page).map(([id]) => id),
          ['sso_session'],
        );
        for (const [name, value] of Object.entries<string>({ ...times, ...wrong }))
          if (name !== 'sso_session') assert.equal(fieldsOfForm(page, 'sso')[name], value, name);
        assert.deepEqual(await sso(), { idle_seconds: 60, absolute_seconds: 7_776_000 });
      }
      assert.equal((await submit({ ...times, sso_session: 'off' })).status, 303);
      assert.equal(await sso(), 'off');
    });

    it('providers that administrators may come by are ticked by name, of owners', async () => {
      const { tenant } = visitor;
      await tenant.make('POST', '/identity-providers', {
        alias: 'octocat',
        kind: 'github',
        name: 'The cat',
        client_id: 'x',
        client_secret: 'y',
      });
      assert.match(await show('sign-in'), /value="octocat"[^>]*> <span><b>The cat<\/b>/);
    });
  });
}
