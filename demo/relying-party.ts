// A sample relying party on the public library openid-client: the authorization code flow with PKCE, refresh, UserInfo and
// RP-initiated logout. The demo and the browser test sign in to it; nothing in it knows Gatehouse but its issuer URL.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as client from 'openid-client';

export interface RelyingPartyOptions {
  readonly issuer: string;
  /** Registered at the issuer; called once the party's own address is known. */
  readonly register: (uris: {
    readonly redirectUri: string;
    readonly postLogoutRedirectUri: string;
  }) => Promise<{ readonly clientId: string; readonly clientSecret: string }>;
}

export interface RelyingParty {
  readonly url: string;
  readonly close: () => Promise<void>;
}

interface Session {
  readonly codeVerifier: string;
  readonly state: string;
  readonly nonce: string;
  claims?: Readonly<Record<string, unknown>>;
  idToken?: string;
  accessToken?: string;
  refreshToken?: string;
}

/** Starts the party on a free loopback port. */
export async function startRelyingParty({ issuer, register }: RelyingPartyOptions): Promise<RelyingParty> {
  const sessions = new Map<string, Session>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      page(response, 500, 'Sign-in failed', `<p id="error">${escapeHtml(describe(error))}</p>`),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const redirectUri = `${url}/callback`;
  const registered = await register({ redirectUri, postLogoutRedirectUri: `${url}/` });
  const config = await client.discovery(
    new URL(issuer),
    registered.clientId,
    undefined,
    client.ClientSecretBasic(registered.clientSecret),
    {
      execute: [client.allowInsecureRequests],
    },
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', url);
    const session = sessions.get(/party=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    if (target.pathname === '/sign-in') return signIn(response);
    if (target.pathname === '/callback' && session !== undefined) return finish(session, target, response);
    if (target.pathname === '/refresh' && session?.refreshToken !== undefined) return refresh(session, response);
    if (target.pathname === '/sign-out' && session?.idToken !== undefined) {
      return redirect(response, client.buildEndSessionUrl(config, { id_token_hint: session.idToken, post_logout_redirect_uri: `${url}/` }));
    }
    return page(response, 200, 'A sample application', '<p><a id="sign-in" href="/sign-in">Sign in with Gatehouse</a></p>');
  }

  async function signIn(response: ServerResponse): Promise<void> {
    const session: Session = { codeVerifier: client.randomPKCECodeVerifier(), state: client.randomState(), nonce: client.randomNonce() };
    const id = randomUUID();
    sessions.set(id, session);
    response.setHeader('set-cookie', `party=${id}; Path=/; HttpOnly; SameSite=Lax`);
    const parameters = {
      redirect_uri: redirectUri,
      scope: 'openid profile email offline_access',
      state: session.state,
      nonce: session.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(session.codeVerifier),
      code_challenge_method: 'S256',
    };
    redirect(response, client.buildAuthorizationUrl(config, parameters));
  }

  async function finish(session: Session, target: URL, response: ServerResponse): Promise<void> {
    const tokens = await client.authorizationCodeGrant(config, target, {
      pkceCodeVerifier: session.codeVerifier,
      expectedState: session.state,
      expectedNonce: session.nonce,
      idTokenExpected: true,
    });
    keep(session, tokens);
    const claims = tokens.claims()!; // idTokenExpected
    session.claims = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    signedIn(session, response);
  }

  async function refresh(session: Session, response: ServerResponse): Promise<void> {
    keep(session, await client.refreshTokenGrant(config, session.refreshToken!));
    signedIn(session, response);
  }

  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function keep(session: Session, tokens: client.TokenEndpointResponse): void {
  session.accessToken = tokens.access_token;
  if (tokens.id_token !== undefined) session.idToken = tokens.id_token;
  if (tokens.refresh_token !== undefined) session.refreshToken = tokens.refresh_token;
}

function signedIn(session: Session, response: ServerResponse): void {
  const rows = Object.entries(session.claims ?? {}).map(
    ([name, value]) => `<tr><th>${escapeHtml(name)}</th><td data-claim="${escapeHtml(name)}">${escapeHtml(String(value))}</td></tr>`,
  );
  page(
    response,
    200,
    'Signed in',
    `<table>${rows.join('')}</table><p><a id="refresh" href="/refresh">Refresh</a> · <a id="sign-out" href="/sign-out">Sign out</a></p>`,
  );
}

function redirect(response: ServerResponse, location: URL): void {
  response.writeHead(303, { location: location.href }).end();
}

function page(response: ServerResponse, status: number, title: string, body: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:16px/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}th{text-align:left;padding-right:1rem}</style>
<h1>${title}</h1>${body}</html>`);
}

/** The OAuth code too, where the library found one in an answer. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'error' in error ? `${error.message}: ${String(error.error)}` : error.message;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
