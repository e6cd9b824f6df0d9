// Tests that whoever holds one capability alone, or exactly what a write takes, does not grow by any write of the tenant's own OpenAPI
// document; and that each write was done by somebody who may. What each takes is judged in power-table.ts.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { actorWith, isAdmitted, type Write, writesOf } from './power-actor.ts';
import { grow, isOfTenant } from './power-growth.ts';
import { makePowerWorld, type PowerWorld } from './power-world.ts';
import { startTestServer, type TestServer } from './server.ts';

/** Those who hold some capabilities of a tenant, in a describe(). */
export function powerOf(isTheirs: (needs: readonly Capability[]) => boolean): {
  readonly unjudged: () => readonly string[];
  readonly writes: () => readonly Write[];
  /** Fails where somebody with exactly these grew; `withKeyless` as of makePowerWorld. */
  readonly nobodyGrows: (holds: readonly Capability[], withKeyless?: boolean) => Promise<void>;
  /** Registers the test that each write these capabilities are for was done. */
  readonly eachWasDone: () => void;
} {
  let server: TestServer;
  let writes: readonly Write[];
  let unjudged: readonly string[];
  /** Of those who write nothing. */
  let still: PowerWorld;
  const done = new Set<string>();
  before(async () => {
    server = await startTestServer('sqlite');
    still = await makePowerWorld(server, true);
    ({ writes, unjudged } = await writesOf(still.tenant));
  });
  after(() => server.close());
  return {
    writes: () => writes,
    unjudged: () => unjudged,
    nobodyGrows: async (holds, withKeyless = true) => {
      const writesSome = writes.some((write) => isAdmitted(write, { holds: new Set(holds) }));
      const world = writesSome || !withKeyless ? await makePowerWorld(server, withKeyless) : still;
      const grown = await grow(server, world, await actorWith(world.tenant, holds), writes, 'swept');
      assert.deepEqual(grown.gains, []);
      for (const name of grown.done) done.add(name);
    },
    eachWasDone: () =>
      it('each write was done by somebody who may, but for those whose line says why not', () => {
        const theirs = writes.filter((write) => isOfTenant(write) && write.judged.undone === undefined && isTheirs(write.judged.needs));
        assert.ok(theirs.length > 10);
        assert.deepEqual(
          theirs.map(({ name }) => name).filter((name) => !done.has(name)),
          [],
        );
      }),
  };
}

/** What people are and how they get in, apart from what is configured. */
export const isOfPeople = (capability: Capability): boolean =>
  /^(?:users|groups|administrators|invitations|devices|sign-in|roles|scim)\b/.test(capability);

/** Applications and what is told elsewhere, apart from how a tenant itself is. */
export const isOfApplications = (capability: Capability): boolean =>
  /^(?:clients|resources|service-providers|webhooks|connectors|organizations|ssf)\b/.test(capability);
