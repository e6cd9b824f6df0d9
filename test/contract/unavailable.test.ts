// The shared rows of a database that cannot be written, by a real failure: the disk of the embedded database is full (E8).
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createDataFolder, type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, type Json, jsonOf } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken } from '../support/server.ts';

const redirectUri = 'https://rp.example/callback';
const attemptsMax = 400;

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

describe('a full disk', () => {
  let folder: ReturnType<typeof createDataFolder>;
  let running: GatehouseProcess | undefined;
  before(() => {
    folder = createDataFolder();
  });
  after(async () => {
    running?.signal('SIGKILL');
    await running?.ended;
    folder.remove();
  });
  const serve = (shell?: string): Promise<string> => {
    running = serveEmbedded(folder.path, shell === undefined ? {} : { shell });
    return running.ready;
  };
  const stop = async (): Promise<void> => {
    running?.signal('SIGTERM');
    assert.equal((await running?.ended)?.code, 0);
  };

  it('oauth.unavailable and management.unavailable until there is space again; reads go on, nothing refused is stored', async () => {
    const roomy = await serve();
    const kept = await jsonOf(await createTenant(roomy, { slug: 'kept', name: 'Kept' }), 201);
    const client = await registerClient(`${roomy}/t/kept`, kept['admin_client'] as Credentials);
    await stop();
    // No file of the process may grow beyond this: its write-ahead log reaches it soon.
    const cramped = await serve(`ulimit -f ${Math.ceil(statSync(join(folder.path, 'gatehouse.db')).size / 512)}`);
    // A change of a name is written much sooner than a tenant, which has keys; a tenant is more to write.
    const rename = (turn: number): Promise<Response> =>
      callJson(`${cramped}/v1/system/tenants/${kept['id']}`, operatorToken, 'PATCH', { name: `${turn} ${'x'.repeat(180)}` });
    await assertRefusal(await untilRefused(rename), 'management.unavailable');
    await assertRefusal(await untilRefused((turn) => createTenant(cramped, { slug: `s${turn}`, name: 'S' })), 'management.unavailable');
    await assertRefusal(await untilRefused(() => pushRequest(`${cramped}/t/kept`, client)), 'oauth.unavailable');
    assert.equal((await fetch(`${cramped}/t/kept/v1/idp/oidc/jwks`)).status, 200);
    const stored = await tenants(cramped);
    await stop();
    const healed = await serve();
    assert.deepEqual(await tenants(healed), stored);
    assert.equal((await createTenant(healed, { slug: 'after', name: 'After' })).status, 201);
    assert.equal((await pushRequest(`${healed}/t/kept`, client)).status, 201);
    await stop();
  });
});

const createTenant = (url: string, body: Json): Promise<Response> => callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', body);

async function tenants(url: string): Promise<readonly unknown[]> {
  const { items } = await jsonOf<{ readonly items: readonly Json[] }>(
    await callJson(`${url}/v1/system/tenants?limit=200`, operatorToken, 'GET'),
    200,
  );
  return items.map(({ slug }) => slug);
}

async function registerClient(base: string, { client_id: id, client_secret: secret }: Credentials): Promise<Credentials> {
  const token = await clientCredentialsToken(base, id, secret);
  return jsonOf(
    await callJson(`${base}/v1/management/clients`, token, 'POST', { name: 'Pushes', redirect_uris: [redirectUri], scopes: ['openid'] }),
    201,
  );
}

/** A pushed request: it is stored (RFC 9126). */
const pushRequest = (base: string, { client_id, client_secret }: Credentials): Promise<Response> =>
  fetch(`${base}/v1/idp/oidc/par`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` },
    body: new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 'state-1',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    }),
  });

async function untilRefused(attempt: (turn: number) => Promise<Response>): Promise<Response> {
  for (let turn = 0; turn < attemptsMax; turn += 1) {
    const response = await attempt(turn);
    if (!response.ok) return response;
    await response.body?.cancel();
  }
  return assert.fail('the disk never got full');
}
