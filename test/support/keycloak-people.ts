// Keycloak as the provider people come from: a realm with one person, a client for us by OpenID Connect and one made from our SAML
// metadata by its own import. The person signs in at its own page.
import assert from 'node:assert/strict';
import { openBrowser } from './browser.ts';
import type { CompanyProvider } from './connect-by-link.ts';
import type { Keycloak } from './keycloak.ts';
import type { Json } from './management.ts';
import { readForm } from './saml-website.ts';

export const keycloakPerson = {
  username: 'zoe',
  password: 'password-of-zoe',
  email: 'zoe@keycloak.example',
  firstName: 'Zoë',
  lastName: 'Ångström',
};
const secret = 'secret-of-gatehouse-at-keycloak';

export type PeopleRealm = Awaited<ReturnType<typeof peopleRealm>>;

export async function peopleRealm(keycloak: Keycloak, realm = 'people') {
  const { url, administer } = keycloak;
  const { password, ...person } = keycloakPerson;
  const user = { ...person, enabled: true, emailVerified: true, credentials: [{ type: 'password', value: password, temporary: false }] };
  await administer('POST', '', { realm, enabled: true, users: [user] });
  return {
    issuer: `${url}/realms/${realm}`,
    /** Its SAML metadata. */
    metadata: async (): Promise<string> => (await fetch(`${url}/realms/${realm}/protocol/saml/descriptor`)).text(),
    /** What we register, and a client of it there. */
    trustByOpenId: async (callback: string): Promise<Json> => {
      await administer('POST', `/${realm}/clients`, {
        clientId: 'gatehouse',
        secret,
        redirectUris: [callback],
        protocol: 'openid-connect',
      });
      return { issuer: `${url}/realms/${realm}`, client_id: 'gatehouse', client_secret: secret };
    },
    /** Takes our metadata, with what `changes` does to the client it makes of it. */
    trustBySaml: async (ours: string, changes: (client: Json) => Json = (client) => client): Promise<Json> => {
      const client = await administer('POST', `/${realm}/client-description-converter`, ours);
      const mail = {
        name: 'mail',
        protocol: 'saml',
        protocolMapper: 'saml-user-property-mapper',
        config: {
          'user.attribute': 'email',
          'attribute.name': 'urn:oid:0.9.2342.19200300.100.1.3',
          'attribute.nameformat': 'URI Reference',
        },
      };
      await administer('POST', `/${realm}/clients`, changes({ ...client, protocolMappers: [mail] }));
      return client;
    },
  };
}

/** The person signs in at the address; gives the request their browser then makes to us: an address, or a form's too. */
export async function signInThere(location: string, callback: string): Promise<{ readonly url: string; readonly form?: URLSearchParams }> {
  const browser = openBrowser();
  let response = await browser.send(location, { headers: { accept: 'text/html' } });
  for (let steps = 0, at = location; steps < 10; steps += 1) {
    const next = response.headers.get('location');
    const page = await response.text();
    if (next !== null) {
      at = new URL(next, at).href;
      if (at.startsWith(callback)) return { url: at };
      response = await browser.send(at, { headers: { accept: 'text/html' } });
      continue;
    }
    const form = readForm(page);
    assert.ok(form, `${response.status} ${at}: ${page.replace(/^.*<body/s, '').replace(/<[^>]*>|\s+/g, ' ')}`);
    if (form.action.startsWith(callback)) return { url: form.action, form: new URLSearchParams(form.fields) };
    const { username, password } = keycloakPerson;
    const body = new URLSearchParams({ ...form.fields, username, password });
    at = new URL(form.action, at).href;
    response = await browser.send(at, { method: 'POST', body, headers: { accept: 'text/html' } });
  }
  return assert.fail(`${location} leads nowhere`);
}

/** Its realm as a company's own provider, in a real browser. */
export async function keycloakCompany(keycloak: Keycloak): Promise<CompanyProvider> {
  const realm = await peopleRealm(keycloak, 'company');
  const { email, username, password } = keycloakPerson;
  return {
    name: 'Keycloak',
    domain: email.split('@')[1]!,
    asOpenId: async (callback) => {
      const { issuer, client_id, client_secret } = await realm.trustByOpenId(callback);
      return { issuer: String(issuer), clientId: String(client_id), clientSecret: String(client_secret) };
    },
    asSaml: { metadata: realm.metadata, trust: async (ours) => void (await realm.trustBySaml(ours)) },
    person: () => Promise.resolve(email),
    signIn: async (page) => {
      await page.waitForURL(`${keycloak.url}/**`);
      await page.fill('#username', username);
      await page.fill('#password', password);
      await page.click('#kc-login');
    },
  };
}
