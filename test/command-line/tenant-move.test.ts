// Design 20, section 3: `gatehouse tenant move` takes a tenant to another group in one command. What was acknowledged is there, what was
// refused said when to come back, and whatever ends the command leaves the tenant served by one group, and never by two.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tenantImportPartBytesMax } from '../../src/contract/limits.ts';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { callSystem, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { type MovingWorld, openMovingWorld } from '../support/moving-tenants.ts';
import { refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken } from '../support/server.ts';
import { fillTenant, openMoveWorld, rowsOf } from '../support/tenant-moves.ts';
import type { TwoGroups } from '../support/two-groups.ts';
import type { Seen } from '../support/watched-group.ts';

const ways = databases.flatMap((from) => databases.map((to) => ({ from, to })));
/** More than one part has. */
const peopleOfParts = 400;

for (const { from, to } of ways) {
  describe(`tenant move from ${from} to ${to}`, () => {
    it('takes everything along: every row of every table, and what was issued goes on there', async () => {
      const world = await openMoveWorld(from, to);
      try {
        const filled = await fillTenant(world, 'acme');
        const { source, target, sendTo } = world;
        const told = await source.json('tenant', 'move', 'acme', '--to', target.ownUrl, '--operator-token', operatorToken);
        assert.deepEqual([told['to'], told['map']], [target.ownUrl, null]);
        const [was, is] = [await rowsOf(source, filled.tenant.id), await rowsOf(target, filled.tenant.id)];
        const grown = ['audit_events', 'activity_counts']; // the import is recorded
        for (const [table, rows] of was)
          if (grown.includes(table))
            assert.deepEqual(
              rows.filter((row) => !is.get(table)!.includes(row)),
              [],
              table,
            );
          else assert.deepEqual(is.get(table), table === 'held_deliveries' ? [] : rows, table);
        await untilStatus(() => fetch(`${source.ownUrl}/t/acme/v1/idp/oidc/jwks`), 503);
        sendTo(target);
        await tokensOf(await refresh(filled.tenant, filled.client, filled.tokens.refresh_token));
        await source.fails(
          /expected the tenant|expected one of/,
          'tenant',
          'move',
          'nobody',
          '--to',
          target.ownUrl,
          '--operator-token',
          operatorToken,
        );
      } finally {
        await world.close();
      }
    });
  });

  // Where there are two databases, what is of one alone has been shown by the others.
  if (from === to && databases.length > 1) continue;
  describe(`tenant move between two servers, from ${from} to ${to}`, () => {
    let world: MovingWorld;
    let groups: TwoGroups;
    before(async () => {
      world = await openMovingWorld(from, to);
      groups = world.groups;
    });
    after(() => groups.close());
    const newTenant: MovingWorld['newTenant'] = (people) => world.newTenant(people);
    const moving: MovingWorld['moving'] = (...args) => world.moving(...args);
    const assertAtOrigin: MovingWorld['assertAtOrigin'] = (tenant) => world.assertAtOrigin(tenant);
    const assertMoved: MovingWorld['assertMoved'] = (tenant) => world.assertMoved(tenant);

    it('under parallel writes loses none: each was acknowledged and is there, or was answered 503 with Retry-After', async () => {
      const tenant = await newTenant(peopleOfParts);
      const made: string[] = [];
      const statuses = new Set<number>();
      let going = true;
      const write = async (writer: number): Promise<void> => {
        for (let number = 0; going; number += 1) {
          const name = `w${writer}-${number}@acme.example`;
          const response = await tenant.call('POST', '/users', { user_name: name, emails: [{ value: name }] });
          statuses.add(response.status);
          if (response.status === 201) made.push(String(((await response.json()) as Json)['id']));
          else {
            await assertRefusal(response, 'management.unavailable');
            assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
          }
        }
      };
      const writers = Promise.all([0, 1, 2, 3].map(write));
      writers.catch(() => undefined); // awaited below
      await eventually(() => made.length > 20, 'writes before the move');
      const file = `${groups.source.port}.map`;
      const { code, stdout, stderr } = await groups.source.run(
        ...['tenant', 'move', tenant.slug, '--to', groups.target.url, '--json', '--map', file, '--format', 'haproxy'],
        ...['--group', `group-1=${groups.source.url}`, '--group', `group-2=${groups.target.url}`],
      );
      assert.equal(code, 0, stderr);
      assert.equal((JSON.parse(stdout) as Json)['map'], file);
      groups.router.sendTo(groups.target.port);
      const before = made.length;
      await eventually(() => made.length > before + 20, 'writes after the move');
      going = false;
      await writers;
      const lost: string[] = [];
      for (const id of made) if ((await tenant.call('GET', `/users/${id}`)).status !== 200) lost.push(id);
      assert.deepEqual(lost, [], `of ${made.length} acknowledged`);
      assert.deepEqual([...statuses].toSorted(), [201, 503]);
      groups.router.sendTo(groups.source.port);
    });

    /** What the command asks the other group for, in its order. */
    const steps: readonly (readonly [name: string, at: (seen: Seen) => boolean])[] = [
      ['the key', ({ method, path }) => method === 'GET' && path === '/tenant-imports'],
      ['the beginning', ({ method, path }) => method === 'POST' && path === '/tenant-imports'],
      ['the first part', ({ path }) => path.endsWith('/parts/0')],
      ['the second part', ({ path }) => path.endsWith('/parts/1')],
      ['the opening', ({ path, when }) => path.endsWith('/open') && when === 'asked'],
    ];
    let ofParts: Managed | undefined;
    for (const [name, at] of steps)
      for (const when of ['asked', 'answered'] as const)
        if (name !== 'the opening' || when === 'asked')
          it(`ended by SIGTERM when ${name} is ${when}, it leaves the tenant served where it was`, async () => {
            ofParts ??= await newTenant(peopleOfParts);
            const tenant = ofParts;
            let isSent = false;
            const command = moving(tenant.slug);
            groups.watched.watch((seen) => {
              if (isSent || seen.when !== when || !at(seen)) return false;
              isSent = true;
              command.signal('SIGTERM');
              return seen.path.endsWith('/open'); // the group never hears of it
            });
            const { code, stderr } = await command.ended;
            groups.watched.watch(() => false);
            assert.equal(isSent, true);
            assert.equal(code, 1, stderr);
            assert.match(stderr, /expected to end by itself, found SIGTERM/);
            const wasClosed = !['the key', 'the beginning'].includes(name);
            assert.match(
              stderr,
              wasClosed ? /Tenant acme\d+ is served here again\./ : /Tenant acme\d+ (?:was not closed|is served here again)\./,
            );
            await assertAtOrigin(tenant);
            await createTestUser(tenant, `after-${name.replaceAll(' ', '-')}-${when}@acme.example`);
          });

    it('which was ended at each of these steps, the tenant moves after all', async () => {
      assert.ok(ofParts !== undefined);
      const { code, stderr } = await moving(ofParts.slug).ended;
      assert.equal(code, 0, stderr);
      await assertMoved(ofParts);
    });

    it('whose last answer is lost with a SIGTERM has moved, and says so', async () => {
      const tenant = await newTenant();
      const command = moving(tenant.slug);
      let isLost = false;
      groups.watched.watch(({ path, when }) => {
        if (isLost || when !== 'answered' || !path.endsWith('/open')) return false;
        isLost = true;
        command.signal('SIGTERM');
        return true;
      });
      const { code, stdout, stderr } = await command.ended;
      groups.watched.watch(() => false);
      assert.equal(isLost, true);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^Tenant acme\d+ is open at /);
      await assertMoved(tenant);
    });

    // The waiting for a group that does not answer is of no database.
    it('whose opening nobody can tell of stays closed here; run again, it finds it open there', {
      skip: from !== databases[0],
    }, async () => {
      const tenant = await newTenant();
      let isOpened = false;
      groups.watched.watch(({ path, when }) => {
        if (path.endsWith('/open') && when === 'answered') isOpened = true;
        return isOpened; // from then on the group is out of reach
      });
      const command = moving(tenant.slug);
      await eventually(() => isOpened);
      command.signal('SIGTERM');
      const { code, stderr } = await command.ended;
      assert.equal(code, 1);
      assert.match(
        stderr,
        /Nobody can tell whether acme\d+ is open at \S+: it stays closed here\. When that group answers, run this command again/,
      );
      groups.watched.watch(() => false);
      await assertMoved(tenant);
      const again = await moving(tenant.slug).ended;
      assert.equal(again.code, 0, again.stderr);
      assert.match(again.stdout, /is open at \S+, since an earlier move\./);
    });

    it('is refused before anything is closed: a slug that another tenant has, another public URL, the root tenant, a wrong address', async () => {
      const tenant = await newTenant();
      const twin = await jsonOf(await callSystem(groups.target, 'POST', '/tenants', { slug: tenant.slug, name: 'Twin' }), 201);
      const taken = await moving(tenant.slug).ended;
      assert.equal(taken.code, 1);
      assert.match(
        taken.stderr,
        /expected the slug acme\d+ to be free, found another tenant with it[\s\S]*Tenant acme\d+ was not closed\./,
      );
      const other = await newTenant();
      const elsewhere = await moving(other.slug, '--public-url', 'http://127.0.0.1:9').ended;
      assert.match(elsewhere.stderr, /expected a tenant that keeps its address/);
      assert.match((await moving('main').ended).stderr, /expected a tenant that can move, found main/);
      const wrong = await groups.source.run('tenant', 'move', other.slug, '--to', 'file:///etc');
      assert.deepEqual([wrong.code, /--to: expected the address of a group/.test(wrong.stderr)], [2, true]);
      const token = await moving(other.slug, '--operator-token', 'another-operator-token-of-nobody').ended;
      assert.match(token.stderr, /expected the operator token of this group, found another one/);
      await assertAtOrigin(other);
      assert.equal((await callSystem(groups.target, 'DELETE', `/tenants/${twin['id']}`)).status, 204);
    });

    it('one move of a tenant at a time; opened by hand meanwhile, it is not opened there', async () => {
      const tenant = await newTenant(peopleOfParts);
      let seen: Promise<unknown> | undefined;
      groups.watched.watch(async ({ path, when }) => {
        if (path.endsWith('/parts/1') && when === 'asked' && seen === undefined) {
          seen = (async () => {
            const second = await groups.source.run('tenant', 'move', tenant.slug, '--to', groups.target.url);
            assert.equal(second.code, 1);
            assert.match(second.stderr, /expected an open tenant, found acme\d+ closed by an export or by another move/);
            assert.equal(await groups.target.statusOf(tenant.slug), 503, 'it is being built there, closed');
            const opened = await groups.source.run('tenant', 'reopen', tenant.slug);
            assert.equal(opened.code, 0, opened.stderr);
          })();
          await seen;
        }
        return false;
      });
      const { code, stderr } = await moving(tenant.slug).ended;
      groups.watched.watch(() => false);
      await seen;
      assert.equal(code, 1);
      assert.match(stderr, /expected acme\d+ to stay closed while it moves, found it opened or deleted meanwhile/);
      await assertAtOrigin(tenant);
    });

    it('deleted at its origin meanwhile, it is nowhere', async () => {
      const tenant = await newTenant(peopleOfParts);
      let deleted: Promise<Response> | undefined;
      groups.watched.watch(async ({ path, when }) => {
        if (path.endsWith('/parts/1') && when === 'asked') {
          deleted ??= callSystem(groups.source, 'DELETE', `/tenants/${tenant.id}`);
          await deleted;
        }
        return false;
      });
      const { code, stderr } = await moving(tenant.slug).ended;
      groups.watched.watch(() => false);
      assert.equal((await deleted)?.status, 204);
      assert.equal(code, 1);
      assert.match(stderr, /expected acme\d+ to stay closed while it moves, found it opened or deleted meanwhile/);
      for (const { url } of [groups.source, groups.target]) await untilStatus(() => fetch(`${url}/t/${tenant.slug}/v1/idp/oidc/jwks`), 404);
    });

    it('parts: the operator’s alone, before a byte of one is read; in order, once, of this bundle, with a limit of length', async () => {
      const id = 'AAAAAAAAAAAAAAAAAAAAAA';
      const put = (bytes: Uint8Array<ArrayBuffer>, part = '0', token = operatorToken): Promise<Response> =>
        fetch(`${groups.target.url}/v1/system/tenant-imports/${id}/parts/${part}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
          body: bytes,
        });
      await assertRefusal(await put(new Uint8Array(10), '0', 'x'), 'management.unauthorized');
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', `/${id}`],
        ['POST', `/${id}/open`],
        ['DELETE', `/${id}`],
      ] as const)
        await assertRefusal(await fetch(`${groups.target.url}/v1/system/tenant-imports${path}`, { method }), 'management.unauthorized');
      const garbled = await jsonOf(await put(new Uint8Array(tenantImportPartBytesMax)), 409);
      assert.match(String(garbled['message']), /expected a bundle of format gatehouse-tenant-1/);
      assert.equal((await put(new Uint8Array(tenantImportPartBytesMax + 1))).status, 413);
      assert.equal((await put(new Uint8Array(10), '-1')).status, 400);
      assert.deepEqual(await jsonOf(await callSystem(groups.target, 'GET', `/tenant-imports/${id}`), 200), {
        state: 'unknown',
        next_part: null,
      });
      assert.equal((await callSystem(groups.target, 'GET', '/tenant-imports/x')).status, 400);
      const opened = await jsonOf(await callSystem(groups.target, 'POST', `/tenant-imports/${id}/open`, { rows: 0 }), 409);
      assert.match(String(opened['message']), /expected an import that is under way, found none of bundle/);
      const given = await jsonOf(await callSystem(groups.target, 'DELETE', `/tenant-imports/${id}`), 200);
      assert.deepEqual(given, { state: 'given_up', next_part: null });
      // A beginning that comes after its end is none, and keeps nobody else from beginning.
      const begin = async (bundle: string): Promise<string> => {
        const tenantId = '0199a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b';
        const names = { slug: 'late', domain: null, base_url: `${groups.router.url}/t/late` };
        const head = { id: bundle, created: new Date(0).toISOString(), release: '0', migrations: [], tenant_id: tenantId, ...names };
        return String((await jsonOf(await callSystem(groups.target, 'POST', '/tenant-imports', head), 409))['message']);
      };
      assert.match(await begin(id), /expected a bundle that was not imported here before/);
      assert.match(await begin(`${id.slice(1)}B`), /expected a bundle of this schema/);
      assert.match(await begin(`${id.slice(1)}C`), /expected a bundle of this schema/);
    });
  });
}
