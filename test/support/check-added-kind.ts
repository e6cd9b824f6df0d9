// Run by docs/kind-recipe.test.ts in a copy of the tree that has one more kind, printers: the Management API, its description, events,
// documents, the console and the command line have it, with its limit, its unique name and what it hands out.
import assert from 'node:assert/strict';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { run } from '../../src/cli/run.ts';
import { createConsoleTenant, openConsole } from './console.ts';
import type { Json } from './management.ts';
import { machineWith } from './roles.ts';
import { startTestServer } from './server.ts';

const server = await startTestServer('sqlite');
try {
  const { services } = server.gatehouse;
  const { tenant, email } = await createConsoleTenant(server);
  const made = await tenant.make('POST', '/printers', { name: 'Hall', url: 'https://hall.example', token: 'known there' });
  const { id: _id, created_at: _made, updated_at: _changed, ...shown } = made;
  assert.deepEqual(shown, { name: 'Hall', url: 'https://hall.example', jammed_at: null });
  const status = async (method: string, path: string, body?: Json): Promise<number> => (await tenant.call(method, path, body)).status;
  assert.equal(await status('POST', '/printers', { name: 'Hall', url: 'https://hall.example' }), 409);
  assert.equal(await status('POST', '/printers', { name: 'Yard', url: 'http://yard.example' }), 400);
  const path = `/printers/${made['id']}`;
  assert.match(await (await tenant.call('PATCH', path, { url: 'https://new.example' })).text(), /must be given again/);
  assert.equal((await tenant.make('PATCH', path, { url: 'https://hall.example/other' }))['url'], 'https://hall.example/other');
  const moved = await tenant.make('PATCH', path, { url: 'https://new.example', token: 'known there too' });
  assert.equal(moved['url'], 'https://new.example');
  const weak = await machineWith(tenant, ['settings:read', 'settings:write']);
  for (const [method, body] of [
    ['PATCH', {}],
    ['DELETE', undefined],
  ] as const)
    assert.match(await (await weak.call(method, path, body)).text(), /lacks the capability users:read/);
  const lines = (name: string) => ['gatehouse: 1', 'printers:', `  - name: ${name}`, '    url: https://x.example'];
  await applyDocument(services, tenant.slug, lines('Office'));
  await assert.rejects(applyDocument(services, tenant.slug, lines('Third')), /at most 2 printers in the tenant/);
  assert.match(await (await tenant.call('POST', '/printers', { name: 'Third', url: 'https://x.example' })).text(), /at most 2 printers/);
  let document = '';
  const session = await openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' });
  for await (const part of exportDocument(session, { withSecrets: false, asJson: false })) document += part;
  const elsewhere = ['gatehouse: 1', 'printers:', '  - name: Hall', '    url: https://stranger.example'];
  await assert.rejects(applyDocument(services, tenant.slug, elsewhere), /the known one would go elsewhere/);
  const planned: unknown[] = [];
  const renewed = ['gatehouse: 1', 'printers:', '  - {name: Hall, url: "https://new.example", token: another}'];
  await reconcile(session, readDeclarations(renewed), { write: false, prune: false, onChange: (change) => void planned.push(change) });
  assert.match(JSON.stringify(planned), /"name":"token","from":"\(secret\)","to":"\(secret\)"/);
  let whole = '';
  for await (const part of exportDocument(session, { withSecrets: true, asJson: false })) whole += part;
  assert.match(whole, / {4}token: known there too\n/);
  assert.doesNotMatch(document, /known there/);
  assert.match(document, /^printers:\n {2}- id: .*\n {4}name: Hall\n {4}url: https:\/\/new\.example\n/m);
  const { visitor } = await openConsole(server, tenant, email);
  assert.match(await (await visitor.page('/printers')).text(), /Hall/);
  assert.match(await (await visitor.page('/printers/new')).text(), /New printer/);
  const { paths } = await tenant.make<{ paths: Json }>('GET', '/openapi.json');
  assert.ok(Object.hasOwn(paths, '/printers/{id}'));
  assert.equal(await status('DELETE', path), 204);
  const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=printer:${made['id']}`);
  assert.deepEqual(
    items.map(({ type }) => type),
    ['printer.deleted', 'printer.updated', 'printer.updated', 'printer.created'],
  );
  assert.equal(await run(['printer', 'create', '--help']), 0);
} finally {
  await server.close();
}
