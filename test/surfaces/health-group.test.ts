// Design 20, section 3: /health/group, for a router in front of groups of tenants that asks each whether it has the tenant of a request.
// Strangers may ask as well: they learn what a request to the tenant says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tenantLookUpsPerSecond } from '../../src/contract/limits.ts';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { callSystem, createTestTenant, jsonOf } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken } from '../support/server.ts';
import { type Deployment, type MoveWorld, openMoveWorld } from '../support/tenant-moves.ts';

for (const name of databases)
  describe(`/health/group on ${name}`, () => {
    let world: MoveWorld;
    before(async () => {
      world = await openMoveWorld(name, name);
      const { source } = world;
      await createTestTenant(source.server, { slug: 'acme' });
      await jsonOf(
        await callSystem(source.server, 'POST', '/tenants', { slug: 'own', name: 'Own', domain: 'https://login.own.example' }),
        201,
      );
    });
    after(() => world.close());

    let asked = 0;
    /** From an address of its own each time: look-ups that find nothing are limited by address. */
    const ask = ({ ownUrl }: Deployment, query: string, address?: string): Promise<Response> => {
      asked += 1;
      return fetch(`${ownUrl}/health/group?${query}`, {
        headers: { 'x-forwarded-for': address ?? `203.${asked >> 8}.${asked & 255}.7` },
      });
    };
    const about = (host: string, path: string): string => new URLSearchParams({ host, path }).toString();
    const publicHost = (): string => new URL(world.source.server.config.publicUrl!).host;

    it('200 for a tenant it has, by slug where the public host or none is named, by domain where that is', async () => {
      const { source } = world;
      for (const query of [
        about(publicHost(), '/t/acme'),
        about(publicHost(), '/t/acme/v1/idp/oidc/authorize?client_id=x'),
        about(publicHost(), '/.well-known/openid-configuration/t/acme'),
        about('nobody.example', '/t/acme/'),
        'path=/t/acme/',
        about('login.own.example', '/'),
        about('LOGIN.own.example', '/v1/idp/oidc/jwks'),
        'host=login.own.example',
      ])
        assert.deepEqual(await jsonOf(await ask(source, query), 200), { status: 'ok' }, query);
    });

    it('management.not_found: others, the root tenant that every group has, what is no name; no two answers differ', async () => {
      const { source, target } = world;
      const { id } = await createTestTenant(source.server, { slug: 'disabled' });
      assert.equal((await callSystem(source.server, 'PATCH', `/tenants/${id}`, { enabled: false })).status, 200);
      const answers = new Set<string>();
      for (const query of [
        about(publicHost(), '/'),
        about(publicHost(), '/t/main'),
        about(publicHost(), '/t/acmes'),
        about(publicHost(), '/t/ACME'),
        about(publicHost(), '/t/disabled'),
        about(publicHost(), '/x/t/acme'),
        about(publicHost(), '//t/acme'),
        about('login.own.example', '/t/acme'),
        about('nobody.example', '/'),
        about("'; DROP TABLE tenants; --", '/'),
        about('x'.repeat(2000), `/t/${'a'.repeat(500)}`),
        'host=login.own.example&host=login.own.example',
        'path=/t/acme&path=/t/acme',
        'tenant=acme',
        '',
      ]) {
        const response = await ask(source, query);
        await assertRefusal(response.clone(), 'management.not_found');
        answers.add((await response.text()).replace(/"request_id":"[^"]*"/, ''));
      }
      assert.equal(answers.size, 1);
      await assertRefusal(await ask(target, about(publicHost(), '/t/acme')), 'management.not_found');
      assert.equal((await fetch(`${source.ownUrl}/health/group?path=/t/acme`, { method: 'POST' })).status, 405);
      assert.equal((await fetch(`${source.ownUrl}/health/group?path=/t/acme`, { method: 'HEAD' })).status, 200);
      assert.equal((await fetch(`${source.ownUrl}/t/acme/health/group?path=/t/acme`)).status, 200, 'health belongs to no tenant');
    });

    it('who asks for names that nobody has is limited, and is told nothing by it', async () => {
      const { source } = world;
      // Some more are looked up for each moment that it takes.
      const asked = Array.from({ length: 10 * tenantLookUpsPerSecond }, (_, count) =>
        ask(source, about(publicHost(), `/t/nobody-${count}`), '198.51.100.9'),
      );
      const answers = await Promise.all(asked);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [404, 429]);
      assert.match(answers.find(({ status }) => status === 429)!.headers.get('retry-after') ?? '', /^\d+$/);
      await untilStatus(() => ask(source, about(publicHost(), '/t/acme'), '198.51.100.9'), 200);
    });

    it('management.unavailable: while a tenant moves away its group says so with Retry-After, then the other has it', async () => {
      const { source, target, place } = world;
      const query = about(publicHost(), '/t/acme/v1/idp/oidc/jwks');
      const { import_key: key } = await target.json<{ readonly import_key: string }>('tenant', 'import-key');
      await source.json('export', '--complete', '--tenant', 'acme', '--for', key, '--out', place('acme.bundle'));
      await untilStatus(() => ask(source, query), 503);
      const refused = await ask(source, query);
      assert.equal(refused.headers.get('retry-after'), '5');
      await assertRefusal(refused, 'management.unavailable');
      await assertRefusal(await ask(target, query), 'management.not_found');
      await source.json('tenant', 'reopen', 'acme');
      await untilStatus(() => ask(source, query), 200);
      await source.json('tenant', 'move', 'acme', '--to', target.ownUrl, '--operator-token', operatorToken);
      await untilStatus(() => ask(target, query), 200);
      await untilStatus(() => ask(source, query), 503);
      await source.json('tenant', 'delete', 'acme', '--confirm', 'acme');
      await untilStatus(() => ask(source, query), 404);
    });
  });
