// Sets of capabilities that somebody holds all but (design 17, 2). What is admitted grows with what is held, so whatever two capabilities
// come to together, somebody who holds them and more comes to. Resources stand in a square; through each place go a row, a column and a
// diagonal that share no other place. So whichever two resources somebody has, and whatever third they would come to, one of these lines
// lacks the third and neither of the two.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { actorWith, type Write, writesOf } from './power-actor.ts';
import { grow, ofTenant } from './power-growth.ts';
import { makePowerWorld } from './power-world.ts';
import { startTestServer, type TestServer } from './server.ts';

/** What reading and writing are about: who writes something is shown it, so both are lacking or neither. */
const resourceOf = (capability: Capability): string => (capability === 'users:recover' ? capability : capability.split(/[:.]/)[0]!);
export const resources: readonly string[] = [...new Set(ofTenant.map(resourceOf))];
const side = Math.ceil(Math.sqrt(resources.length));
const linesBy = (lineOf: (x: number, y: number) => number): readonly (readonly string[])[] =>
  [...Array(side).keys()]
    .map((line) => resources.filter((_, at) => lineOf(at % side, Math.floor(at / side)) === line))
    .filter(({ length }) => length > 0);
export const columns = linesBy((x) => x);
export const rows = linesBy((_x, y) => y);
export const diagonals = linesBy((x, y) => (x + y) % side);

/** Registers a test for each line, in a describe(): whoever holds everything but what is on it does not grow. */
export function nobodyGrowsWithout(lines: readonly (readonly string[])[]): void {
  let server: TestServer;
  let writes: readonly Write[] = [];
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.close());
  for (const [index, lacking] of lines.entries())
    it(`everything but ${lacking.join(', ')}`, async () => {
      const world = await makePowerWorld(server, index % 2 === 0);
      if (writes.length === 0) ({ writes } = await writesOf(world.tenant));
      const holds = ofTenant.filter((one) => !lacking.includes(resourceOf(one)));
      const { gains } = await grow(server, world, await actorWith(world.tenant, holds), writes, 'table');
      assert.deepEqual(gains, []);
    });
}
