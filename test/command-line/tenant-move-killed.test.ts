// Design 20, section 3: a `gatehouse tenant move` that is killed, and the map that it writes for the router. Whoever opens the tenant, by
// whatever command, one group serves it, and the map names that one.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import type { Ended } from '../support/gatehouse-process.ts';
import type { Managed } from '../support/management.ts';
import { type MovingWorld, openMovingWorld } from '../support/moving-tenants.ts';
import type { TwoGroups } from '../support/two-groups.ts';

for (const [index, from] of databases.entries()) {
  const to = databases.at(index - 1)!; // the other, where there are two
  describe(`tenant move that is killed, and its map, from ${from} to ${to}`, () => {
    let world: MovingWorld;
    let groups: TwoGroups;
    let maps: string;
    before(async () => {
      maps = mkdtempSync(join(tmpdir(), 'gatehouse-maps-'));
      world = await openMovingWorld(from, to);
      groups = world.groups;
    });
    after(async () => {
      rmSync(maps, { recursive: true, force: true });
      await groups.close();
    });
    const newTenant: MovingWorld['newTenant'] = (people) => world.newTenant(people);
    const moving: MovingWorld['moving'] = (...args) => world.moving(...args);
    const assertAtOrigin: MovingWorld['assertAtOrigin'] = (tenant) => world.assertAtOrigin(tenant);
    const assertMoved: MovingWorld['assertMoved'] = (tenant) => world.assertMoved(tenant);

    for (const isOpen of [true, false])
      it(`killed at the opening, which the group ${isOpen ? 'did' : 'never heard of'}: nobody opens it here unasked; run again, it moves`, async () => {
        const tenant = await newTenant();
        const command = moving(tenant.slug);
        groups.watched.watch(({ path, when }) => {
          if (!path.endsWith('/open') || when !== (isOpen ? 'answered' : 'asked')) return false;
          command.signal('SIGKILL');
          return true;
        });
        await command.ended;
        groups.watched.watch(() => false);
        const reopened = await groups.source.run('tenant', 'reopen', tenant.slug);
        assert.equal(reopened.code, 1, reopened.stdout);
        assert.match(reopened.stderr, /expected a tenant that is open nowhere else, found acme\d+, which a move asked \S+ to open/);
        await untilStatus(() => fetch(`${groups.source.url}/t/${tenant.slug}/v1/idp/oidc/jwks`), 503);
        const astray = await groups.source.run('tenant', 'move', tenant.slug, '--to', groups.source.url);
        assert.match(astray.stderr, /--to: expected \S+, which an earlier move asked to open acme\d+, found/);
        const again = await moving(tenant.slug).ended;
        assert.equal(again.code, 0, again.stderr);
        assert.equal(/since an earlier move/.test(again.stdout), isOpen, again.stdout);
        await assertMoved(tenant);
      });

    const mapFlags = (file: string): readonly string[] => [
      ...['--map', file, '--format', 'haproxy'],
      ...['--group', `group-1=${groups.source.url}`, '--group', `group-2=${groups.watched.url}`],
    ];
    /** A move that ends at the opening, with a map; `meanwhile` is what others do to the file then. */
    const endedWithMap = async (tenant: Managed, file: string, meanwhile: () => void = () => undefined): Promise<Ended> => {
      writeFileSync(file, 'before\n');
      let written = '';
      groups.watched.watch(({ path, when }) => {
        if (!path.endsWith('/open') || when !== 'asked') return false;
        if (written === '') {
          written = readFileSync(file, 'utf8');
          meanwhile();
        }
        return true;
      });
      const command = moving(tenant.slug, ...mapFlags(file));
      await eventually(() => written !== '');
      command.signal('SIGTERM');
      const ended = await command.ended;
      groups.watched.watch(() => false);
      assert.equal(ended.code, 1);
      assert.match(written, new RegExp(`^/t/${tenant.slug} group-2$`, 'm'));
      await assertAtOrigin(tenant);
      return ended;
    };
    const fileOf = ({ slug }: Managed): string => join(maps, slug);

    it('the map is put back where the tenant is, unless somebody has written it since', async () => {
      const [tenant, beside] = [await newTenant(), await newTenant()];
      await endedWithMap(tenant, fileOf(tenant));
      assert.equal(readFileSync(fileOf(tenant), 'utf8'), 'before\n');
      await endedWithMap(beside, fileOf(beside), () => writeFileSync(fileOf(beside), 'of another move\n'));
      assert.equal(readFileSync(fileOf(beside), 'utf8'), 'of another move\n');
    });

    it('the map that is there at the end has the tenant where it is, whoever wrote it meanwhile', async () => {
      const tenant = await newTenant();
      const asOfBefore = () => writeFileSync(fileOf(tenant), `/t/${tenant.slug} group-1\n`);
      groups.watched.watch(({ path, when }) => {
        if (path.endsWith('/open') && when === 'answered') asOfBefore();
        return false;
      });
      const { code, stderr } = await moving(tenant.slug, ...mapFlags(fileOf(tenant))).ended;
      groups.watched.watch(() => false);
      assert.equal(code, 0, stderr);
      assert.match(readFileSync(fileOf(tenant), 'utf8'), new RegExp(`^/t/${tenant.slug} group-2$`, 'm'));
    });

    it('a map that cannot be put back keeps no tenant closed', async () => {
      const tenant = await newTenant();
      const { stderr } = await endedWithMap(tenant, fileOf(tenant), () => {
        rmSync(fileOf(tenant));
        mkdirSync(fileOf(tenant));
      });
      assert.match(stderr, /The map in \S+ was not put back: EISDIR[\s\S]*Tenant acme\d+ is served here again\./);
    });

    // Last, because its import keeps the turn there for 30 seconds.
    it('is opened here where a group that was asked to open it is gone for good, and the slug is given again', async () => {
      const tenant = await newTenant();
      const command = moving(tenant.slug);
      groups.watched.watch(({ path, when }) => {
        if (!path.endsWith('/open') || when !== 'asked') return false;
        command.signal('SIGKILL');
        return true;
      });
      await command.ended;
      groups.watched.watch(() => false);
      assert.equal((await groups.source.run('tenant', 'reopen', tenant.slug, '--confirm', 'another')).code, 1);
      const opened = await groups.source.run('tenant', 'reopen', tenant.slug, '--confirm', tenant.slug);
      assert.equal(opened.code, 0, opened.stderr);
      await untilStatus(() => fetch(`${groups.source.url}/t/${tenant.slug}/v1/idp/oidc/jwks`), 200);
    });
  });
}
