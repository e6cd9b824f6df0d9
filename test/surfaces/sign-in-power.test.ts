// What decides how people prove who they are takes `sign-in:write` (design 17, 2.1): `settings:write` and `mail:write` alone change none of
// it. Each refusal has the way in beside it that stays.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { leavesOf } from '../../src/domain/field.ts';
import { builtInRoles } from '../../src/domain/people/role.ts';
import { settingFields } from '../../src/domain/tenant/settings.ts';
import { openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const lacks = (capability: string) => ({ text: `The token lacks the capability ${capability}.` });
const mailServer = { host: 'smtp.elsewhere.example', port: 587, security: 'starttls', from: 'a@elsewhere.example' };
const provider = { alias: 'other', name: 'Other', kind: 'oidc', issuer: 'https://other.example', client_id: 'x', client_secret: 'y' };
const hook = { point: 'sign_in', url: 'https://hooks.example', on_failure: 'continue' };

/** A change of each setting, at its default. */
const changes: readonly (readonly [path: string, capability: string | undefined, body: Json])[] = leavesOf(settingFields).map(
  ([path, { about }]) => [
    path,
    about.capability,
    path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), about.default) as Json, // a path has a name
  ],
);

/** Settings that take neither `sign-in:write` nor `settings:write`. */
const others: Readonly<Record<string, string>> = { branding: 'branding:write', administrator_providers: 'administrators:write' };

for (const database of databases) {
  describe(`sign-in:write on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let settings: Managed;
    let mail: Managed;
    let signIn: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      settings = await machineWith(tenant, ['settings:read', 'settings:write']);
      mail = await machineWith(tenant, ['mail:read', 'mail:write']);
      signIn = await machineWith(tenant, ['sign-in:read', 'sign-in:write', 'users:read']);
    });
    after(() => server.close());

    it('hole 1: settings:write writes no setting that weakens how people prove who they are', async () => {
      for (const body of [
        { login_methods: ['email_pin'] },
        { pin: { attempts_max: 10 } },
        { rate_limits: { pin_attempts_per_ip: { limit: 1000 } } },
        { device: { additional_device: 'email_pin' } },
        { recovery_codes: false },
        { sso_session: 'browser' },
        { access_token_lifetime_seconds: 600, pin: { length: 8 } },
      ])
        await assertRefusal(await settings.call('PATCH', '/settings', body), 'management.forbidden', lacks('sign-in:write'));
      assert.equal((await tenant.make('GET', '/settings'))['access_token_lifetime_seconds'], 900); // nothing of a refused change stays
      for (const body of [{ access_token_lifetime_seconds: 600 }, { scim: { infer_primary: true } }, {}])
        await settings.make('PATCH', '/settings', body);
      await signIn.make('PATCH', '/settings', { login_methods: ['passkey', 'phone', 'email_pin'], pin: { length: 8 } });
      await assertRefusal(
        await signIn.call('PATCH', '/settings', { access_token_lifetime_seconds: 600 }),
        'management.forbidden',
        lacks('settings:write'),
      );
    });

    it('every setting names the capability it takes, and is refused without it', async () => {
      for (const [path, capability, body] of changes) {
        assert.ok(capability === (others[path] ?? 'sign-in:write') || capability === 'settings:write', path);
        const other = capability === 'settings:write' ? signIn : settings;
        await assertRefusal(await other.call('PATCH', '/settings', body), 'management.forbidden', lacks(capability));
      }
    });

    it('holes 2 and 13: the mail server is set by neither mail:write nor settings:write', async () => {
      for (const [machine, method, path, body] of [
        [mail, 'PUT', '/mail-server', mailServer],
        [settings, 'PUT', '/mail-server', mailServer],
        [mail, 'DELETE', '/mail-server', undefined],
        [settings, 'PATCH', '/settings', { smtp: { server: mailServer } }],
      ] as const)
        await assertRefusal(await machine.call(method, path, body), 'management.forbidden', lacks('sign-in:write'));
      assert.deepEqual(await mail.make('GET', '/mail-server'), { server: null });
      await signIn.make('PUT', '/mail-server', mailServer);
      assert.equal(((await mail.make('GET', '/mail-server'))['server'] as Json)['host'], mailServer.host);
      await signIn.make('DELETE', '/mail-server');
    });

    it('hole 1b: other providers and hooks are written by sign-in:write alone', async () => {
      const { id } = await signIn.make('POST', '/identity-providers', provider);
      const { id: hookId } = await signIn.make('POST', '/hooks', hook);
      for (const [method, path, body] of [
        ['POST', '/identity-providers', provider],
        ['PATCH', `/identity-providers/${id}`, { name: 'Mine' }],
        ['DELETE', `/identity-providers/${id}`, undefined],
        ['POST', `/identity-providers/${id}/check-domains`, undefined],
        ['POST', '/hooks', hook],
        ['PATCH', `/hooks/${hookId}`, { enabled: false }],
        ['POST', `/hooks/${hookId}/secret`, undefined],
        ['DELETE', `/hooks/${hookId}`, undefined],
      ] as const)
        await assertRefusal(await settings.call(method, path, body), 'management.forbidden', lacks('sign-in:write'));
      for (const path of ['/identity-providers', `/identity-providers/${id}`, '/hooks', `/hooks/${hookId}`]) {
        await assertRefusal(await settings.call('GET', path), 'management.forbidden', lacks('sign-in:read'));
        await signIn.make('GET', path);
      }
      await signIn.make('PATCH', `/identity-providers/${id}`, { name: 'Ours' });
      await signIn.make('DELETE', `/identity-providers/${id}`);
      await signIn.make('DELETE', `/hooks/${hookId}`);
    });

    it('branding is written by branding:write, among the settings too', async () => {
      const body = { branding: { accent: '#1d4ed8' } };
      await assertRefusal(await settings.call('PATCH', '/settings', body), 'management.forbidden', lacks('branding:write'));
      assert.deepEqual(((await tenant.make('GET', '/branding')) as Json)['published'], {});
      await (await machineWith(tenant, ['settings:write', 'branding:write'])).make('PATCH', '/settings', body);
      assert.deepEqual(((await tenant.make('GET', '/branding')) as Json)['published'], body.branding);
    });

    it('settings are read by settings:read as before, and by sign-in:read', async () => {
      const whole = await tenant.make('GET', '/settings');
      assert.deepEqual(await settings.make('GET', '/settings'), whole);
      assert.deepEqual(await signIn.make('GET', '/settings'), whole);
      await assertRefusal(await mail.call('GET', '/settings'), 'management.forbidden', lacks('settings:read'));
      await assertRefusal(await mail.call('PATCH', '/settings', {}), 'management.forbidden', lacks('settings:write'));
    });

    it('owner and admin have both; support has neither', () => {
      const having = builtInRoles.filter(({ capabilities }) => capabilities.includes('sign-in:write'));
      assert.deepEqual(
        having.map(({ name }) => name),
        ['owner', 'admin'],
      );
      assert.deepEqual(
        builtInRoles.filter(({ capabilities }) => capabilities.includes('sign-in:read')).map(({ name }) => name),
        ['owner', 'admin', 'auditor'],
      );
    });

    it('the console offers what one may write, and shows the rest', async () => {
      await tenant.make('POST', '/roles', {
        name: 'decorator',
        capabilities: ['settings:read', 'settings:write', 'mail:read', 'mail:write'],
      });
      const email = `decorator@${tenant.slug}.example`;
      const { id } = await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] });
      await tenant.make('PUT', `/users/${String(id)}/roles`, { roles: ['decorator'] });
      const { visitor } = await openConsole(server, tenant, email);
      const page = await (await visitor.page('/settings/mail')).text();
      assert.match(page, /<fieldset class="shown" disabled>(?:(?!<\/fieldset>).)*name="pin\.length"/s);
      assert.doesNotMatch(page, /name="section"/);
      const tokens = await (await visitor.page('/settings/tokens')).text();
      assert.match(tokens, /name="section" value="tokens"/);
      assert.match(tokens, /<fieldset class="shown" disabled>(?:(?!<\/fieldset>).)*name="userinfo_with_resource"/s);
      assert.doesNotMatch(tokens, /<fieldset class="shown" disabled>(?:(?!<\/fieldset>).)*name="access_token_lifetime_seconds"/s);
      assert.doesNotMatch(page, /href="[^"]*\/console\/(?:identity-providers|hooks)"/);
      assert.doesNotMatch(await (await visitor.page('/mail')).text(), /id="save-server"/);
      const answer = await visitor.submit('/settings/tokens', {
        section: 'tokens',
        access_token_lifetime_seconds: '700',
        id_token_lifetime_seconds: '900',
        access_token_alg: 'ES256',
        userinfo_with_resource: 'on',
      });
      assert.equal(answer.status, 303, await answer.text());
      const refused = await visitor.submit('/settings/mail', { section: 'codes', 'pin.length': '10' });
      assert.equal(refused.status, 403, await refused.text());
      const { access_token_lifetime_seconds: seconds, pin } = await tenant.make('GET', '/settings');
      assert.deepEqual([seconds, (pin as Json)['length']], [700, 8]);
    });
  });
}
