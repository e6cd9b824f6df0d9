// What an import leaves that nobody brings to its end: it is removed late, or by the next, and the next loses nothing by it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeTenant } from '../../src/administration/moving/export-tenant.ts';
import { beginImport, giveUpImport, importPart, openImported } from '../../src/administration/moving/import-in-parts.ts';
import { headOf } from '../../src/cli/moving/export-complete.ts';
import { cutIntoParts } from '../../src/cli/moving/tenant-parts.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { randomId } from '../../src/platform/random.ts';
import { createConfigCache } from '../../src/storage/engine/config/config-cache.ts';
import { findTenantById } from '../../src/storage/registry/tenants.ts';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser } from '../support/management.ts';
import { type MoveWorld, openMoveWorld, rowsOf } from '../support/tenant-moves.ts';

const overTurnMs = 31_000;
const by = { actor: 'operator' };

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

for (const name of databases)
  describe(`what an import left on ${name}`, () => {
    let world: MoveWorld;
    before(async () => {
      world = await openMoveWorld(name, name);
    });
    after(() => world.close());

    const newTenant = async (slug: string): Promise<TenantId> => {
      const tenant = await createTestTenant(world.source.server, { slug });
      await createTestUser(tenant, `p@${slug}.example`);
      return tenant.id as TenantId; // an id the server gave
    };
    /** Sends a tenant and leaves it closed there; gives its rows. */
    const arrive = async (slug: string, bundle: string): Promise<number> => {
      const [from, to] = [world.source.server.gatehouse.services, world.target.server.gatehouse.services];
      const head = await headOf(from, (await from.tenants.bySlug(slug))!, bundle);
      await beginImport(to, head);
      let sent = 0;
      for await (const { part, rows, lines } of cutIntoParts(
        bundle,
        writeTenant(from, head, () => undefined),
      )) {
        await importPart(to, { bundle, part }, each(lines));
        sent += rows;
      }
      return sent;
    };
    const stateAt = (id: TenantId) =>
      world.target.server.gatehouse.services.database.systemRead(async (queries) => (await findTenantById(queries, id))?.moving);

    it('is removed late, and takes nothing of the same tenant that came again meanwhile', async () => {
      const id = await newTenant('late');
      const { services } = world.target.server.gatehouse;
      const [first, second] = [randomId(), randomId()];
      await arrive('late', first);
      const [isAt, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow: typeof services.database = {
        ...services.database,
        writeClosed: async (tenant, work) => {
          isAt.resolve();
          await goOn.promise;
          return services.database.writeClosed(tenant, work);
        },
      };
      const removing = giveUpImport({ ...services, database: slow }, first).then(
        () => 'removed',
        (error: Error) => error.message,
      );
      await isAt.promise;
      await world.target.server.clock.advance(overTurnMs);
      const sent = await arrive('late', second);
      goOn.resolve();
      assert.match(await removing, /expected no other import at the same time/);
      assert.equal((await openImported(services, second, sent, by)).state, 'imported');
      const [was, is] = [await rowsOf(world.source, id), await rowsOf(world.target, id)];
      for (const table of ['tenants', 'users', 'clients', 'signing_keys']) assert.deepEqual(is.get(table), was.get(table), table);
    });

    it('and that nobody gave up goes when the next import begins, whoever’s that is', async () => {
      const left = await newTenant('left');
      await newTenant('next');
      await arrive('left', randomId());
      assert.match(String(await stateAt(left)), /^from:/);
      await world.target.server.clock.advance(overTurnMs);
      await arrive('next', randomId());
      assert.equal(await stateAt(left), undefined);
    });

    it('is forgotten by every node when it is given up: the name is free', async () => {
      await newTenant('named');
      const { services } = world.target.server.gatehouse;
      const bundle = randomId();
      await world.target.server.clock.advance(overTurnMs);
      await arrive('named', bundle);
      const keys = (): Promise<Response> => fetch(`${world.target.ownUrl}/t/named/v1/idp/oidc/jwks`);
      await untilStatus(keys, 503);
      const elsewhere = { ...services, cache: createConfigCache(services.database, services.clock) };
      assert.equal((await giveUpImport(elsewhere, bundle)).state, 'given_up');
      await untilStatus(keys, 404);
    });

    it('is not opened where it was removed under its sender', async () => {
      const id = await newTenant('gone');
      const { services } = world.target.server.gatehouse;
      const bundle = randomId();
      await world.target.server.clock.advance(overTurnMs);
      const sent = await arrive('gone', bundle);
      await services.database.writeClosed(id, (queries) => queries.deleteFrom('tenants').where('tenant_id', '=', id).execute());
      await assert.rejects(openImported(services, bundle, sent, by), /expected tenant gone as it was sent, found it removed/);
    });
  });
