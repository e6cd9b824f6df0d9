// What happens to a tenant while it is read for a bundle: opened, taken by another export, deleted. A bundle of two states is none.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { noteOpener } from '../../src/storage/tenant-moves.ts';
import { databases, onServer } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { type MoveWorld, openMoveWorld } from '../support/tenant-moves.ts';

/** What a trigger does, in the words of each database. */
interface Rule {
  readonly on: string;
  readonly sqlite: string;
  readonly postgres: string;
}

/** Somebody is quicker than the next statement of whoever closes a tenant, and leaves this in `moving`. */
const leaves = (moving: string): Rule => ({
  on: 'UPDATE ON tenants',
  sqlite: `UPDATE tenants SET moving = ${moving} WHERE tenant_id = NEW.tenant_id AND moving LIKE 'to:%' AND moving <> 'to:another'`,
  postgres: `IF NEW.moving LIKE 'to:%' THEN NEW.moving := ${moving}; END IF; RETURN NEW`,
});
const failsHalfway: Rule = {
  on: 'DELETE ON signing_keys',
  sqlite: `SELECT RAISE(ABORT, 'half-way')`,
  postgres: `RAISE 'half-way'`,
};

for (const name of databases) {
  describe(`a tenant that is not left alone while it is exported, on ${name}`, () => {
    let world: MoveWorld;
    let key: string;
    before(async () => {
      world = await openMoveWorld(name, 'sqlite');
      key = (await world.target.json<{ readonly import_key: string }>('tenant', 'import-key')).import_key;
    });
    after(() => world.close());

    const execute = async (...statements: readonly string[]): Promise<void> => {
      const { databaseUrl } = world.source.server.database;
      if (databaseUrl !== undefined)
        await onServer(databaseUrl, async (client) => {
          for (const statement of statements) await client.query(statement);
        });
      else
        await world.source.server.gatehouse.services.database.system(async (queries) => {
          for (const statement of statements) await sql.raw(statement).execute(queries);
        });
    };
    /** While a rule of the database is there. */
    const under = async (rule: Rule, work: () => Promise<void>): Promise<void> => {
      if (name === 'sqlite') await execute(`CREATE TRIGGER meanwhile AFTER ${rule.on} BEGIN ${rule.sqlite}; END`);
      else
        await execute(
          `CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${rule.postgres}; END $$`,
          `CREATE TRIGGER meanwhile BEFORE ${rule.on} FOR EACH ROW EXECUTE FUNCTION meanwhile()`,
        );
      await work().finally(() => execute(...(name === 'sqlite' ? ['DROP TRIGGER meanwhile'] : ['DROP FUNCTION meanwhile CASCADE'])));
    };
    const movingOf = async (id: string): Promise<string | null | undefined> => {
      const { database } = world.source.server.gatehouse.services;
      const row = await database.systemRead((queries) =>
        queries
          .selectFrom('tenants')
          .select('moving')
          .where('tenant_id', '=', id as TenantId)
          .executeTakeFirst(),
      );
      return row?.moving;
    };
    const exportOf = (slug: string): readonly string[] => [
      'export',
      '--complete',
      '--tenant',
      slug,
      '--for',
      key,
      '--out',
      world.place(slug),
    ];
    const remove = async (id: string): Promise<number> => {
      const headers = { authorization: `Bearer ${operatorToken}` };
      return (await fetch(`${world.source.ownUrl}/v1/system/tenants/${id}`, { method: 'DELETE', headers })).status;
    };

    for (const [what, slug, moving] of [
      ['opened', 'opened', null],
      ['exported by another', 'taken', 'to:another'],
    ] as const)
      it(`${what}: no bundle, and it stays as it is`, async () => {
        const { id } = await createTestTenant(world.source.server, { slug });
        await under(leaves(moving === null ? 'NULL' : `'${moving}'`), () =>
          world.source.fails(/to stay closed by this export, found it opened, moved or deleted meanwhile/, ...exportOf(slug)),
        );
        assert.equal(existsSync(world.place(slug)), false);
        assert.equal(await movingOf(id), moving);
        await world.source.json(...exportOf(slug)); // left alone, it works
      });

    it('deleted: from its first step on it is nobody’s to read; one that a group was asked to open was read', async () => {
      const [read, asked] = [
        await createTestTenant(world.source.server, { slug: 'read' }),
        await createTestTenant(world.source.server, { slug: 'asked' }),
      ];
      for (const slug of ['read', 'asked']) await world.source.json(...exportOf(slug));
      const bundle = String(await movingOf(asked.id)).slice('to:'.length);
      assert.ok(await noteOpener(world.source.server.gatehouse.services.database, asked.id as TenantId, bundle, 'https://group.example'));
      const [readBefore, askedBefore] = [await movingOf(read.id), await movingOf(asked.id)];
      await under(failsHalfway, async () => {
        for (const { id } of [read, asked]) assert.notEqual(await remove(id), 204);
      });
      const left = await movingOf(read.id);
      assert.match(String(left), /^to:[^:]+$/, 'it stays closed');
      assert.notEqual(left, readBefore);
      assert.equal(await movingOf(asked.id), askedBefore);
      for (const { id } of [read, asked]) {
        assert.equal(await remove(id), 204);
        assert.equal(await movingOf(id), undefined);
      }
    });
  });
}
