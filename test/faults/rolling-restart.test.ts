// Three nodes behind nginx, restarted one after another while clients ask on kept connections: no request fails.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, type TestClient } from '../support/fixtures.ts';
import { nginx } from '../support/nginx.ts';
import { startTestServer } from '../support/server.ts';
import { startThreeNodes } from '../support/three-nodes.ts';

const requestsMin = 5000;
const clientsAtOnce = 8;

interface Asked {
  readonly status: number;
  readonly text: string;
}

function ask(agent: Agent, url: string, form?: Readonly<Record<string, string>>): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const headers = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = request(url, { agent, method: form === undefined ? 'GET' : 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.once('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.once('error', reject);
    sent.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

interface Traffic {
  readonly asked: () => number;
  readonly failed: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Clients that ask for tokens, introspect them and read keys, each on a connection of its own, one request after another. */
function startTraffic({ baseUrl }: Tenant, { clientId, secret }: TestClient): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: clientsAtOnce });
  const failed: string[] = [];
  let asked = 0;
  let going = true;
  const credentials = { client_id: clientId, client_secret: secret };
  const expectOk = async (what: string, url: string, form?: Readonly<Record<string, string>>): Promise<string> => {
    asked += 1;
    const { status, text } = await ask(agent, url, form).catch((error: Error) => ({ status: 0, text: error.message }));
    if (status !== 200) failed.push(`${what}: ${status} ${text}`);
    return text;
  };
  const clients = Array.from({ length: clientsAtOnce }, async () => {
    const endpoint = (name: string): string => `${baseUrl}/v1/idp/oidc/${name}`;
    while (going) {
      const answer = await expectOk('token', endpoint('token'), { grant_type: 'client_credentials', ...credentials });
      const { access_token: token = '' } = answer.startsWith('{') ? (JSON.parse(answer) as { access_token?: string }) : {};
      const shown = await expectOk('introspect', endpoint('introspect'), { token, ...credentials });
      if (token !== '' && !shown.includes('"active":true')) failed.push(`introspect: ${shown}`);
      await expectOk('jwks', endpoint('jwks'));
    }
  });
  return {
    asked: () => asked,
    failed,
    stop: async () => {
      going = false;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

if (databases.includes('postgres') && nginx !== undefined)
  describe('a rolling restart', () => {
    it(`${requestsMin} requests on kept connections while three nodes restart: none fails`, { timeout: 240_000 }, async () => {
      const one = await startTestServer('postgres');
      const { services } = one.gatehouse;
      const tenant = await createOtherTenant(services, 'rolling');
      const client = await createClient(services, tenant, {
        tokenEndpointAuthMethod: 'client_secret_post',
        grantTypes: ['client_credentials'],
        scopes: ['users:read'],
      });
      const nodes = await startThreeNodes(one);
      const traffic = startTraffic(nodes.through(tenant), client);
      try {
        for (let index = 0; index < nodes.count; index += 1) {
          assert.equal(await nodes.end(index, 'SIGTERM'), 0);
          await nodes.start(index);
        }
        while (traffic.asked() < requestsMin) await new Promise((done) => setTimeout(done, 50));
      } finally {
        await traffic.stop();
        await nodes.stop();
        await one.close();
      }
      assert.deepEqual(traffic.failed, [], `of ${traffic.asked()}; nginx: ${nodes.nginxSaid().slice(0, 2000)}`);
    });
  });
