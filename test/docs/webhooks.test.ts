// docs/how-to/webhooks.md does what it says: its calls are made, its receiver runs and takes what is posted, its document is applied.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Compile } from 'typebox/schema';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { eventSchema } from '../../src/contract/event-schema.ts';
import { rootTenantSlug } from '../../src/domain/tenant/tenant.ts';
import { until } from '../support/deliveries.ts';
import { blocksOf } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import type { Json, Managed } from '../support/management.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { deliveriesOf, deliverNow, loopbackAllowed } from '../support/webhooks.ts';

const blocks = blocksOf('docs/how-to/webhooks.md');
const textOf = (language: string): string => blocks.find((block) => block.language === language)!.text;
/** The calls of the shell blocks: path, method and body. */
const calls = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => [...text.matchAll(/api "?(\/[^\s"]+)"?(?: -X (\w+))?(?: -d '([^']+)')?/g)])
  .map(([, path, method, body]) => ({ path: path!, method: method ?? (body === undefined ? 'GET' : 'POST'), body }));

describe('the how-to of webhooks', () => {
  let server: TestServer;
  let managed: Managed;
  let receiver: ChildProcess | undefined;
  const folder = mkdtempSync(join(import.meta.dirname, '..', '..', '.test-results-webhook-'));
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    managed = await manageRootTenant(server);
  });
  after(async () => {
    receiver?.kill('SIGKILL');
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('its calls work and its receiver takes the events, each once', { timeout: 60_000 }, async () => {
    assert.equal(calls.length, 7);
    const port = await freePort();
    const [create, ...rest] = calls;
    const made = await managed.make('POST', create!.path, {
      ...(JSON.parse(create!.body!) as Json),
      url: `http://127.0.0.1:${port}/`,
    });
    writeFileSync(join(folder, 'receiver.mjs'), textOf('js'));
    const environment = { ...process.env, WEBHOOK_SECRET: String(made['secret']), PORT: String(port) };
    receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    receiver.stdout!.on('data', (chunk) => lines.push(...String(chunk).trim().split('\n')));
    await until(async () => (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).catch(() => undefined))?.status === 401);
    const group = await managed.make('POST', '/groups', { display_name: 'Staff' });
    await deliverNow(server);
    await until(() => lines.includes(`group.created group:${group['id']}`));
    for (const { path, method, body } of rest)
      await managed.make(method, path.replace('$ID', String(made['id'])), body === undefined ? undefined : JSON.parse(body));
    const [first] = (await deliveriesOf(managed, String(made['id']))).filter(({ state }) => state === 'delivered');
    await managed.make('POST', `/webhooks/${made['id']}/deliveries/${first!.id}/replay`);
    await deliverNow(server);
    assert.equal(lines.filter((line) => line === `group.created group:${group['id']}`).length, 1, 'a repeat is known by its webhook-id');
    const [replayed] = (await deliveriesOf(managed, String(made['id']))).filter(({ id }) => id === first!.id);
    assert.deepEqual([replayed!.state, replayed!.status], ['delivered', 204]);
  });

  it('its event is one of the schema, and its document makes the webhook', async () => {
    assert.ok(Compile(eventSchema).Check(JSON.parse(textOf('json'))));
    const lines = async function* (): AsyncGenerator<string> {
      yield* textOf('yaml').split('\n');
    };
    const applied = await applyDocument(server.gatehouse.services, rootTenantSlug, lines);
    assert.equal(applied.created, 1);
    const { items } = await managed.make<{ readonly items: readonly Json[] }>('GET', '/webhooks?search=hooks.example');
    assert.deepEqual(
      items.map(({ types }) => types),
      [['user.created', 'user.deleted']],
    );
  });
});
