// An OpenID provider on loopback for tests of sign-in with others: it does what it must, and lies where a test asks it to.
import assert from 'node:assert/strict';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';
import { freshRsaKeys } from './rsa-keys.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** What a test changes of the next answers. */
export interface Lies {
  /** Laid over the ID token's claims; undefined removes one. */
  readonly claims?: Claims;
  readonly alg?: 'RS256' | 'HS256' | 'none' | 'foreign';
  readonly tokenStatus?: number;
}

interface Issued {
  readonly parameters: URLSearchParams;
  readonly claims: Claims;
}

export type TestUpstream = Awaited<ReturnType<typeof startUpstream>>;

/** Starts a provider; `nowMs` is the clock of its tokens. `pathOfIssuer` follows its origin, e.g. `/{tenantid}/v2.0`. */
export async function startUpstream(nowMs: () => number, pathOfIssuer = '') {
  const keys = freshRsaKeys();
  const foreign = freshRsaKeys();
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' };
  const issued = new Map<string, Issued>();
  const people = new Map<string, Claims>();
  const calls: string[] = [];
  let lies: Lies = {};
  let isDown = false;
  let metadataBytes = 0;
  let visitor: Claims | undefined;

  const idToken = async ({ parameters, claims }: Issued): Promise<string> => {
    const nowSeconds = Math.floor(nowMs() / 1000);
    const body: Record<string, unknown> = {
      iss: issuer,
      aud: parameters.get('client_id'),
      iat: nowSeconds,
      exp: nowSeconds + 300,
      nonce: parameters.get('nonce') ?? undefined,
      ...claims,
      ...lies.claims,
    };
    for (const [name, value] of Object.entries(body)) if (value === undefined) delete body[name];
    const { alg = 'RS256' } = lies;
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    if (alg === 'none') return `${encode({ alg: 'none' })}.${encode(body)}.`;
    if (alg === 'HS256') {
      const signed = `${encode({ alg, kid: 'one' })}.${encode(body)}`;
      return `${signed}.${createHmac('sha256', keys.publicKey.export({ type: 'spki', format: 'pem' }))
        .update(signed)
        .digest('base64url')}`;
    }
    return new SignJWT(body)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(alg === 'foreign' ? foreign.privateKey : keys.privateKey);
  };

  const token = async (form: URLSearchParams): Promise<readonly [status: number, body: unknown]> => {
    if (lies.tokenStatus !== undefined) return [lies.tokenStatus, {}];
    const code = form.get('code') ?? '';
    const found = issued.get(code);
    issued.delete(code);
    if (found === undefined) return [400, { error: 'invalid_grant' }];
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    assert.equal(challenge, found.parameters.get('code_challenge'), 'PKCE');
    assert.equal(form.get('redirect_uri'), found.parameters.get('redirect_uri'));
    const accessToken = randomUUID();
    people.set(accessToken, found.claims);
    return [200, { access_token: accessToken, token_type: 'Bearer', expires_in: 60, id_token: await idToken(found) }];
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname } = new URL(request.url ?? '', origin);
    calls.push(pathname);
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (isDown) return answer(503, {});
    if (pathname.endsWith('/.well-known/openid-configuration')) return answer(200, padded());
    if (pathname === '/authorize' && visitor !== undefined)
      return void response.writeHead(302, { location: signIn(`${origin}${request.url}`, visitor).href }).end();
    if (pathname === '/jwks') return answer(200, { keys: [jwk] });
    if (pathname === '/token') return answer(...(await token(new URLSearchParams(Buffer.concat(chunks).toString()))));
    if (pathname === '/userinfo') return answer(200, people.get(request.headers.authorization?.slice('Bearer '.length) ?? '') ?? {});
    return answer(404, {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${origin}${pathOfIssuer}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    userinfo_endpoint: `${origin}/userinfo`,
    jwks_uri: `${origin}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    ...(pathOfIssuer === '' ? { authorization_response_iss_parameter_supported: true } : {}),
  };

  const signIn = (location: string, claims: Claims): URL => {
    const { searchParams: parameters, pathname } = new URL(location);
    assert.equal(pathname, '/authorize');
    assert.equal(parameters.get('code_challenge_method'), 'S256');
    const code = randomUUID();
    issued.set(code, { parameters, claims });
    const callback = new URL(parameters.get('redirect_uri') ?? '');
    callback.search = new URLSearchParams({
      code,
      state: parameters.get('state') ?? '',
      ...(pathOfIssuer === '' ? { iss: issuer } : {}),
    }).toString();
    return callback;
  };
  const padded = (): object => {
    const size = JSON.stringify({ ...metadata, padding: '' }).length;
    return metadataBytes === 0 ? metadata : { ...metadata, padding: 'p'.repeat(metadataBytes - size) };
  };

  return {
    origin,
    issuer,
    /** Paths called so far. */
    calls,
    lie: (next: Lies): void => {
      lies = next;
    },
    /** Makes the metadata that long. */
    padMetadata: (bytes: number): void => {
      metadataBytes = bytes;
    },
    setDown: (down: boolean): void => {
      isDown = down;
    },
    /** A logout token as it would send one; `lies` as for ID tokens. */
    logoutToken: (claims: Claims): Promise<string> => {
      const nonceless = new URLSearchParams({ client_id: 'gatehouse' });
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      return idToken({ parameters: nonceless, claims: { jti: randomUUID(), events, ...claims } });
    },
    /** A person signs in at the address we sent them to; gives the callback their browser goes to. */
    signIn,
    /** Whoever comes with a browser is this person, at once. */
    welcome: (claims: Claims): void => {
      visitor = claims;
    },
    close: (): Promise<void> => new Promise((closed) => server.close(() => closed())),
  };
}
