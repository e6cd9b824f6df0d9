// One person and one relying party, driven over HTTP as a browser would: used to seed refresh tokens and to time whole flows.
import { createHash, randomBytes } from 'node:crypto';
import type { GatehouseProcess } from './process.ts';
import { type BenchTenant, call, managementToken } from './tenant.ts';

export interface Party {
  readonly tenant: BenchTenant;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** Registers a client for code and refresh, email PIN as the only method, and rate limits off. */
export async function createParty(tenant: BenchTenant, scopes: readonly string[] = []): Promise<Party> {
  const token = await managementToken(tenant);
  const limits = [
    'login_starts_per_ip',
    'pin_attempts_per_ip',
    'client_auth_failures_per_ip',
    'approvals_per_user',
    'approvals_pending_per_user',
  ];
  await call(`${tenant.managementApi}/settings`, token, 'PATCH', {
    login_methods: ['email_pin'],
    pin: { sends_per_hour_max: 1_000_000, resend_cooldown_seconds: 1, failures_per_day_max: 100 },
    rate_limits: Object.fromEntries(limits.map((name) => [name, { limit: 1_000_000, period_seconds: 1 }])),
  });
  const redirectUri = 'https://party.example/callback';
  const client = (await call(`${tenant.managementApi}/clients`, token, 'POST', {
    name: 'Party',
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_post',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'offline_access', ...scopes],
  })) as { client_id: string; client_secret: string };
  return { tenant, clientId: client.client_id, clientSecret: client.client_secret, redirectUri };
}

/** Creates a user with that email. */
export async function createUser(tenant: BenchTenant, email: string): Promise<void> {
  await call(`${tenant.managementApi}/users`, await managementToken(tenant), 'POST', {
    user_name: email,
    emails: [{ value: email, primary: true }],
  });
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface SignedIn extends Tokens {
  /** What the browser holds afterwards, as a Cookie header. */
  readonly cookies: string;
}

/**
 * A whole sign-in: authorize, identify, PIN from the outbox, finish, code exchange. `asks` are further parameters; where the person has
 * to say for which organisation, it is the first of the list.
 */
export async function signIn(
  gatehouse: GatehouseProcess,
  party: Party,
  email: string,
  asks: Readonly<Record<string, string>> = {},
): Promise<SignedIn> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: party.clientId,
    redirect_uri: party.redirectUri,
    scope: 'openid profile email offline_access',
    state: 's',
    nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...asks,
  });
  const started = await fetch(`${party.tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
  const location = started.headers.get('location');
  if (location === null) throw new Error(`authorize answered ${started.status} ${await started.text()}`);
  const login = new URL(location, party.tenant.baseUrl).href;
  const cookie = cookiesOf(started).join('; ');
  const kept: string[] = [];
  const step = async (name: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${login}/${name}`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${name} answered ${response.status} ${await response.text()}`);
    kept.push(...cookiesOf(response));
    return (await response.json()) as Record<string, unknown>;
  };
  await step('identify', { identifier: email });
  const proven = await step('pin', { pin: await readPin(gatehouse, email) });
  if (proven['state'] === 'organization') {
    const shown = await fetch(login, { headers: { accept: 'application/json', cookie } });
    const { organizations } = (await shown.json()) as { readonly organizations: readonly { readonly id: string }[] };
    await step('organization', { organization: organizations[0]!.id });
  }
  const { redirect_to: redirectTo } = await step('finish', {});
  const code = new URL(String(redirectTo)).searchParams.get('code') ?? '';
  const exchanged = await fetch(`${party.tenant.baseUrl}/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: party.redirectUri,
      code_verifier: verifier,
      client_id: party.clientId,
      client_secret: party.clientSecret,
    }),
  });
  if (!exchanged.ok) throw new Error(`token answered ${exchanged.status} ${await exchanged.text()}`);
  return { ...((await exchanged.json()) as Tokens), cookies: kept.join('; ') };
}

const cookiesOf = (response: Response): readonly string[] => response.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);

const lastSeen = new Map<string, string>();

async function readPin(gatehouse: GatehouseProcess, email: string): Promise<string> {
  const after = lastSeen.get(email);
  const query = new URLSearchParams({ to: email, ...(after === undefined ? {} : { after }) });
  const { messages } = (await call(`${gatehouse.url}/v1/system/outbox?${query}`, gatehouse.operatorToken, 'GET')) as {
    messages: { id: string; text: string }[];
  };
  const message = messages.at(-1);
  if (message === undefined) throw new Error(`no mail for ${email}`);
  lastSeen.set(email, message.id);
  return /\b\d{6}\b/.exec(message.text)?.[0] ?? '';
}
