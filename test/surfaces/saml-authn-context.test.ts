// RequestedAuthnContext: which methods the sign-in page then offers, and which class the answer states (design 15, "AuthnContext").
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { AuthenticationMethod } from '../../src/domain/sign-in/login-methods.ts';
import { databases } from '../support/databases.ts';
import { loginAt } from '../support/login.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import {
  assertDelivered,
  assertStarted,
  finishSignIn,
  insertSamlUser,
  openSamlIdp,
  postback,
  type SamlIdp,
  samlFlags,
} from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const saml2 = (name: string): string => `urn:oasis:names:tc:SAML:2.0:ac:classes:${name}`;
const [unspecified, password, transport, kerberos, mobile] = [
  'unspecified', 'Password', 'PasswordProtectedTransport', 'Kerberos', 'MobileTwoFactorContract',
].map(saml2) as [string, string, string, string, string]; // biome-ignore format: one list
const sfa = 'https://refeds.org/profile/sfa';
const mfa = 'https://refeds.org/profile/mfa';
const microsoft = 'http://schemas.microsoft.com/claims/multipleauthn';
const everyMethod = ['phone', 'passkey', 'email_pin'];
const wish = (classes: readonly string[], comparison?: string): string => {
  const attribute = comparison === undefined ? '' : ` Comparison="${comparison}"`;
  const refs = classes.map((name) => `<saml:AuthnContextClassRef>${name}</saml:AuthnContextClassRef>`);
  return `<samlp:RequestedAuthnContext${attribute}>${refs.join('')}</samlp:RequestedAuthnContext>`;
};

for (const database of databases) {
  suite(`SAML authentication contexts on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    let main: Managed;
    let user: Awaited<ReturnType<typeof insertSamlUser>>;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      main = await createTestTenant(server, { settings: { login_methods: everyMethod } });
      idp = await openSamlIdp(server, main.slug);
      await idp.register({ entity_id: 'https://sp.example' });
      user = await insertSamlUser(server, idp.tenant);
    });
    after(() => server.close());

    const ask = (content: string): Promise<Response> => idp.redirect(idp.request({ issuer: 'https://sp.example', content }));
    const offeredFor = async (content: string): Promise<readonly string[]> => {
      const response = await ask(content);
      const { login_url } = await assertStarted(response);
      const shown = await (await loginAt(login_url, response.headers.get('set-cookie') ?? '').get()).json();
      return (shown as { readonly methods: readonly string[] }).methods;
    };
    const answer = async (content: string, method: AuthenticationMethod): Promise<Response> => {
      const response = await ask(content);
      const { session_id } = await assertStarted(response);
      await finishSignIn(server, idp.tenant, session_id, user, method);
      return postback(idp.base, session_id, (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '');
    };
    const stated = async (content: string, method: AuthenticationMethod): Promise<string | undefined> =>
      /<saml:AuthnContextClassRef>([^<]*)</.exec((await assertDelivered(await answer(content, method))).xml)?.[1];

    const cases: readonly (readonly [what: string, content: string, offered: readonly string[], method: AuthenticationMethod, stated: string])[] = [
      ['nothing', '', everyMethod, 'email_pin', transport],
      ['nothing, by passkey', '', everyMethod, 'passkey', transport],
      ['unspecified', wish([unspecified]), everyMethod, 'email_pin', unspecified],
      ['a password', wish([password], 'exact'), everyMethod, 'email_pin', password],
      ['REFEDS SFA', wish([sfa]), everyMethod, 'email_pin', sfa],
      ['REFEDS MFA', wish([mfa]), ['phone', 'passkey'], 'passkey', mfa],
      ['REFEDS MFA, by phone', wish([mfa]), ['phone', 'passkey'], 'phone_uv', mfa],
      ["Microsoft's MFA", wish([microsoft]), ['phone', 'passkey'], 'passkey', microsoft],
      ['a mobile contract', wish([mobile]), ['phone'], 'phone_uv', mobile],
      ['MFA, else a password, by PIN', wish([mfa, transport]), everyMethod, 'email_pin', transport],
      ['MFA, else a password, by passkey', wish([mfa, transport]), everyMethod, 'passkey', mfa],
      ['a password, else MFA: its order', wish([transport, mfa]), everyMethod, 'passkey', transport],
      ['one nobody knows, else MFA', wish([kerberos, mfa]), ['phone', 'passkey'], 'passkey', mfa],
      ['at least a password', wish([password], 'minimum'), everyMethod, 'email_pin', password],
      ['at least MFA', wish([microsoft], 'minimum'), ['phone', 'passkey'], 'phone_uv', microsoft],
      ['at most a password', wish([password], 'maximum'), everyMethod, 'passkey', password],
      ['at most MFA, by PIN', wish([mfa], 'maximum'), everyMethod, 'email_pin', transport],
      ['better than a password', wish([password], 'better'), everyMethod, 'email_pin', transport],
      ['better than a password over TLS', wish([transport], 'better'), ['phone', 'passkey'], 'passkey', mfa],
      ['better than MFA', wish([mfa], 'better'), ['phone'], 'phone_uv', mobile],
    ]; // biome-ignore format: a table
    for (const [what, content, offered, method, expected] of cases) {
      test(`${what}: offers ${offered.join(', ')}; states ${expected}`, async () => {
        assert.deepEqual(await offeredFor(content), offered);
        assert.equal(await stated(content, method), expected);
      });
    }
    const unmeetable: readonly (readonly [string, string])[] = [
      ['a class nobody knows', wish([kerberos])],
      ['a class nobody knows, at least', wish([kerberos], 'minimum')],
      ['better than the best', wish([mobile], 'better')],
      ['a comparison that does not exist', wish([transport], 'atLeast')],
      ['a comparison named like a property of objects', wish([transport], 'constructor')],
      ['a declaration', '<samlp:RequestedAuthnContext><saml:AuthnContextDeclRef>urn:x</saml:AuthnContextDeclRef></samlp:RequestedAuthnContext>'],
    ]; // biome-ignore format: a table
    for (const [what, content] of unmeetable) {
      test(`7.12 saml.invalid_request: ${what}`, async () => {
        await assertRefusal(await ask(content), 'saml.invalid_request');
      });
    }
    test('7.12 saml.invalid_request: MFA where the tenant has mailed PINs alone', async () => {
      const tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      const other = await openSamlIdp(server, tenant.slug);
      await other.register({ entity_id: 'https://sp.example' });
      await assertRefusal(
        await other.redirect(other.request({ issuer: 'https://sp.example', content: wish([mfa]) })),
        'saml.invalid_request',
      );
      await assertStarted(await other.redirect(other.request({ issuer: 'https://sp.example', content: wish([mfa, sfa]) })));
    });
    test('7.12 saml.invalid_request: a sign-in that met no class asked for is not delivered, and nothing is burnt', async () => {
      await assertRefusal(await answer(wish([mfa]), 'email_pin'), 'saml.invalid_request');
      await assertRefusal(await answer(wish([mobile]), 'passkey'), 'saml.invalid_request');
    });
  });
}
