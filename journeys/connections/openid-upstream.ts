// Providers whose accounts people have already, one as Google is and one as Microsoft is: the protocol by the library oidc-provider, and in
// front of it their own words and menus, for whoever registers us there and for whoever signs in.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientMetadata, Provider } from 'oidc-provider';
import { html } from '../../src/platform/html.ts';
import { type Asked, type Shown, startWebSite } from './web-site.ts';

export interface Account {
  readonly name: string;
  readonly email: string;
}

/** What a provider calls things, and what it says of people. */
interface Manner {
  /** Follows the origin in its issuer. */
  readonly issuerPath: string;
  readonly menu: string;
  readonly newClient: string;
  readonly redirectUri: string;
  readonly create: string;
  readonly clientId: string;
  readonly secret: string;
  /** The button that makes the secret; without one it is there at once. */
  readonly newSecret?: string;
  readonly chooseAccount: string;
  /** A question that follows, with its answer. */
  readonly question?: readonly [question: string, answer: string];
  readonly claimsOf: (account: Account) => Readonly<Record<string, unknown>>;
}

const directory = 'c7a3b2f0-52f1-4f0e-9a52-6f3d6f0b8f5e';

export const manners = {
  google: {
    issuerPath: '',
    menu: 'Credentials',
    newClient: 'Create OAuth client ID',
    redirectUri: 'Authorised redirect URIs',
    create: 'Create',
    clientId: 'Client ID',
    secret: 'Client secret',
    chooseAccount: 'Choose an account',
    claimsOf: ({ name, email }) => ({ email, email_verified: true, name, given_name: name.split(' ')[0], picture: 'https://g.example/a' }),
  },
  microsoft: {
    issuerPath: `/${directory}/v2.0`,
    menu: 'App registrations',
    newClient: 'New registration',
    redirectUri: 'Redirect URI',
    create: 'Register',
    clientId: 'Application (client) ID',
    secret: 'Value',
    newSecret: 'New client secret',
    chooseAccount: 'Pick an account',
    question: ['Stay signed in?', 'Yes'],
    claimsOf: ({ name, email }) => ({ email, name, preferred_username: email, tid: directory, oid: randomUUID() }),
  },
} as const satisfies Readonly<Record<string, Manner>>;

export interface OpenIdUpstream {
  readonly manner: Manner;
  readonly issuer: string;
  /** Where whoever runs an application registers it. */
  readonly console: string;
  /** Somebody has an account there from now on. */
  readonly addAccount: (account: Account) => void;
  readonly close: () => Promise<void>;
}

export async function startOpenIdUpstream(name: keyof typeof manners): Promise<OpenIdUpstream> {
  const manner: Manner = manners[name];
  const accounts: Account[] = [];
  const secrets = new Map<string, string>();
  let provider: Provider;
  const registration = async (redirectUri: string): Promise<ClientMetadata> => {
    const response = await fetch(`${issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    });
    if (response.status !== 201) throw new Error(`expected a client for ${redirectUri}, found ${await response.text()}`);
    return (await response.json()) as ClientMetadata;
  };
  const clientPage = (clientId: string): Shown => {
    const isSecretShown = manner.newSecret === undefined || secrets.has(`${clientId} shown`);
    return [
      'Overview',
      html`<dl><dt>${manner.clientId}</dt><dd>${clientId}</dd><dt>Issuer</dt><dd>${issuer}</dd>${isSecretShown && html`<dt>${manner.secret}</dt><dd>${secrets.get(clientId)}</dd>`}</dl>
${!isSecretShown && html`<form method="post" action="/console/secret"><input type="hidden" name="id" value="${clientId}"><button>${manner.newSecret}</button></form>`}`,
    ];
  };
  const signIn = async ({ request, response, form }: Asked): Promise<Shown> => {
    const { uid, params } = await provider.interactionDetails(request, response);
    const email = form.get('email');
    if (email === null)
      return [
        manner.chooseAccount,
        html`${accounts.map((one) => html`<form method="post" action="/sign-in/${uid}"><button name="email" value="${one.email}">${one.name}</button></form>`)}`,
      ];
    if (manner.question !== undefined && form.get('answer') === null) {
      const [question, answer] = manner.question;
      return [
        question,
        html`<form method="post" action="/sign-in/${uid}"><input type="hidden" name="email" value="${email}"><button name="answer" value="yes">${answer}</button></form>`,
      ];
    }
    const grant = new provider.Grant({ accountId: email, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid profile email');
    const done = { login: { accountId: email }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, done);
    return undefined;
  };
  const site = await startWebSite(
    {
      '/console': () => [manner.menu, html`<p><a href="/console/new">${manner.newClient}</a></p>`],
      '/console/new': async ({ form }) => {
        const redirectUri = form.get('redirect_uri');
        if (redirectUri === null)
          return [
            manner.newClient,
            html`<form method="post" action="/console/new"><label>${manner.redirectUri} <input name="redirect_uri"></label> <button>${manner.create}</button></form>`,
          ];
        const { client_id: id, client_secret: secret } = await registration(redirectUri);
        secrets.set(id, String(secret));
        return clientPage(id);
      },
      '/console/secret': ({ form }) => {
        const id = form.get('id') ?? '';
        secrets.set(`${id} shown`, '');
        return clientPage(id);
      },
      '/sign-in/': signIn,
    },
    (request, response) => mounted(provider.callback(), manner.issuerPath)(request, response),
  );
  const issuer = `${site.origin}${manner.issuerPath}`;
  provider = makeProvider(issuer, (id) => {
    const account = accounts.find(({ email }) => email === id);
    return account && { sub: `${name}-${id}`, ...manner.claimsOf(account) };
  });
  return {
    manner,
    issuer,
    console: `${site.origin}/console`,
    addAccount: (account) => void accounts.push(account),
    close: site.close,
  };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Answers below a path, as frameworks mount it. */
const mounted =
  (answer: Listener, path: string): Listener =>
  (request, response) => {
    if (request.url?.startsWith(path) !== true) return response.writeHead(404).end();
    const { url } = request;
    return answer(Object.assign(request, { originalUrl: url, url: url.slice(path.length) }), response);
  };

function makeProvider(
  issuer: string,
  claimsOf: (id: string) => ({ readonly sub: string } & Readonly<Record<string, unknown>>) | undefined,
): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'rsa' }] },
    findAccount: (_context, id) => {
      const claims = claimsOf(id);
      return claims && { accountId: id, claims: async () => claims };
    },
    claims: {
      openid: ['sub', 'tid', 'oid'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'preferred_username', 'picture'],
    },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, registration: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    cookies: { keys: ['a key of the journeys'] },
  });
}
