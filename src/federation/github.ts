// GitHub: OAuth 2.0 without OpenID Connect. The person is their numeric id, which stays when login and addresses change; an
// email is the primary one, and counts when GitHub verified it. An issuer names a GitHub of one's own (Enterprise Server).
import { createHash } from 'node:crypto';
import { externalSubjectCharsMax } from '../contract/limits.ts';
import type { Json } from '../domain/field.ts';
import { acrOf, usableEmail } from '../domain/sign-in/external-identity.ts';
import { type ProviderProtocol, refused, type Upstream, unavailable } from './upstream.ts';
import { type UpstreamFetch, upstreamFetch } from './upstream-fetch.ts';

const publicIssuer = 'https://github.com';
const defaultScopes = ['read:user', 'user:email'];

const issuerOf = ({ provider }: Upstream): string => provider.issuer?.replace(/\/$/, '') ?? publicIssuer;
const apiOf = (issuer: string): string => (issuer === publicIssuer ? 'https://api.github.com' : `${issuer}/api/v3`);

export const github: ProviderProtocol = {
  start: async (_deps, upstream, sent) => {
    // It has no way to say when somebody signed in there. `select_account` asks who, and not for the password again.
    if (sent.maxAgeSeconds !== undefined) return refused('no_auth_time');
    const { provider, callbackUri } = upstream;
    const location = new URL(`${issuerOf(upstream)}/login/oauth/authorize`);
    location.search = new URLSearchParams({
      client_id: provider.clientId ?? '',
      redirect_uri: callbackUri,
      scope: (provider.scopes.length === 0 ? defaultScopes : provider.scopes).join(' '),
      state: sent.state,
      code_challenge: createHash('sha256').update(sent.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      allow_signup: 'false',
      ...(sent.signInAgain && { prompt: 'select_account' }),
      ...(sent.loginHint !== undefined && { login: sent.loginHint }),
    }).toString();
    return { ok: true, location: location.href };
  },
  identify: async ({ outbound }, upstream, { parameters, verifier }) => {
    const [code, ...others] = parameters.getAll('code');
    if (code === undefined || others.length > 0) return refused(parameters.get('error')?.slice(0, 100) ?? 'no_code');
    const calls = upstreamFetch(outbound, upstream.tenant);
    try {
      return await identityOf(calls, upstream, code, verifier);
    } catch {
      return unavailable(calls.failure() ?? 'an answer that is no JSON');
    }
  },
};

async function identityOf(
  calls: UpstreamFetch,
  upstream: Upstream,
  code: string,
  verifier: string,
): Promise<Awaited<ReturnType<ProviderProtocol['identify']>>> {
  const issuer = issuerOf(upstream);
  const token = await tokenOf(calls, upstream, code, verifier);
  if (token === undefined) return refused('code_not_accepted');
  const person = await read(calls, `${apiOf(issuer)}/user`, token);
  if (typeof person !== 'object' || person === null || Array.isArray(person)) return refused('no_person');
  const { id } = person as Json;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || String(id).length > externalSubjectCharsMax) return refused('no_id');
  const emails = await read(calls, `${apiOf(issuer)}/user/emails`, token);
  const primary = (Array.isArray(emails) ? (emails as readonly Json[]) : []).find((one) => one?.['primary'] === true); // checked below
  const email = usableEmail(primary?.['email']);
  const { provider } = upstream;
  return {
    ok: true,
    identity: {
      providerId: provider.id,
      issuer,
      subject: String(id),
      email,
      emailCounts: email !== undefined && provider.trustEmail && primary?.['verified'] === true,
      ownDomain: undefined,
      sessionId: undefined,
      acr: acrOf(provider, undefined),
    },
    claims: person as Json,
  };
}

async function tokenOf({ fetch }: UpstreamFetch, upstream: Upstream, code: string, verifier: string): Promise<string | undefined> {
  const { provider, clientSecret, callbackUri } = upstream;
  const response = await fetch(`${issuerOf(upstream)}/login/oauth/access_token`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      client_id: provider.clientId ?? '',
      client_secret: clientSecret ?? '',
      code,
      redirect_uri: callbackUri,
      code_verifier: verifier,
    }),
  });
  const { access_token: token } = (await response.json()) as Json; // GitHub answers 200 with an `error` member
  return response.status === 200 && typeof token === 'string' ? token : undefined;
}

async function read({ fetch }: UpstreamFetch, url: string, token: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}` },
  });
  return response.status === 200 ? response.json() : undefined;
}
