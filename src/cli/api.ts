// `gatehouse api <method> <path>`: a call of a tenant's Management API on the running server, with the rights of whoever has the
// database and the master key. A refusal is shown with its request id and what to ask next.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { plainClient } from '../domain/client/client.ts';
import type { ClientId } from '../domain/ids.ts';
import { capabilities } from '../domain/people/capabilities.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { findClient, insertClientOnce } from '../storage/registry/clients/clients.ts';
import { mintAccessToken } from '../tokens/access-token.ts';
import { createKeyRings } from '../tokens/key-rings.ts';
import { CommandFailure, usage } from './failure.ts';
import {
  type Administrator,
  addCommonOptions,
  addTenantOption,
  administer,
  loadTenant,
  type Options,
  write,
} from './registry/administrator.ts';

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
const tokenSeconds = 60;
const callMsMax = 30_000;

export function apiCommand(program: Command): void {
  const command = program.command('api <method> <path>').description('Call the Management API of a tenant on the running server');
  addCommonOptions(addTenantOption(command)).option('--body <json>', 'JSON to send; - reads it from standard input').action(call);
}

async function call(method: string, path: string, options: Options): Promise<void> {
  const verb = method.toUpperCase();
  if (!methods.includes(verb))
    throw usage(`method: expected one of ${methods.join(', ')}, found ${method}. Try: gatehouse api GET /clients`);
  if (!path.startsWith('/')) throw usage(`path: expected one below the Management API such as /clients, found ${path}`);
  const body = bodyOf(options['body']);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const answer = await send(tenant, verb, path, body, await makeToken(administrator, tenant));
    const text = await answer.text();
    if (!answer.ok) throw refusal(`${verb} ${path}`, answer, text);
    if (text !== '') write(administrator.json ? text : JSON.stringify(JSON.parse(text), null, 2));
  });
}

function bodyOf(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const text = given === '-' ? readFileSync(0, 'utf8') : String(given);
  try {
    JSON.parse(text);
  } catch (error) {
    throw usage(`--body: expected JSON such as '{"name": "Portal"}', found ${text.slice(0, 60)} (${(error as Error).message})`); // JSON.parse throws Errors only
  }
  return text;
}

const cliClient = 'gatehouse-cli' as ClientId; // a fixed id of ours

/** A token of a minute for a client that has neither secret nor grant: only who holds the master key makes one. */
async function makeToken({ database, cache, clock, encryption }: Administrator, tenant: Tenant): Promise<string> {
  const known = await database.read(tenant.id, (queries) => findClient(queries, tenant.id, cliClient));
  if (known === undefined)
    await cache.write(tenant.id, (queries) => insertClientOnce(queries, tenant.id, plainClient(cliClient, 'Command line', clock.nowMs())));
  const keys = await createKeyRings(cache, encryption).of(tenant.id);
  const { token } = await mintAccessToken(tenant, keys, clock, {
    clientId: cliClient,
    sub: cliClient,
    audience: tenant.managementApi,
    scope: capabilities.join(' '),
    lifetimeSeconds: tokenSeconds,
  });
  return token;
}

async function send(tenant: Tenant, method: string, path: string, body: string | undefined, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const init = {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(callMsMax),
    ...(body === undefined ? {} : { body }),
  } as const;
  try {
    return await fetch(`${tenant.managementApi}${path}`, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CommandFailure(`expected a server at ${tenant.baseUrl}, found none: ${cause}. Start it with: gatehouse serve`);
  }
}

function refusal(what: string, answer: Response, text: string): CommandFailure {
  const requestId = answer.headers.get('x-request-id') ?? '';
  return new CommandFailure(`${what} was refused: ${answer.status} ${text}\nRequest id ${requestId}. Why: gatehouse explain ${requestId}`);
}
