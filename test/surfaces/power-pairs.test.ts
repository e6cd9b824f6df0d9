// The graph of power (design 17, 2), several capabilities at once: whoever holds all but some tries every write by which somebody could
// grow. What is admitted grows with what is held, so whatever two capabilities come to together, somebody who holds them and more comes to.
// Resources stand in a square; through each place go a row, a column and a diagonal that share no other place. So whichever two resources
// somebody has, and whatever third they would come to, one of these lines lacks the third and neither of the two.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { actorWith, type Write, writesOf } from '../support/power-actor.ts';
import { grow, ofTenant } from '../support/power-growth.ts';
import { makePowerWorld } from '../support/power-world.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What reading and writing are about: who writes something is shown it, so both are lacking or neither. */
const resourceOf = (capability: Capability): string => (capability === 'users:recover' ? capability : capability.split(/[:.]/)[0]!);
const resources = [...new Set(ofTenant.map(resourceOf))];
const side = Math.ceil(Math.sqrt(resources.length));
const lines = [(x: number) => x, (_x: number, y: number) => y, (x: number, y: number) => (x + y) % side].flatMap((lineOf) =>
  [...Array(side).keys()]
    .map((line) => resources.filter((_, at) => lineOf(at % side, Math.floor(at / side)) === line))
    .filter(({ length }) => length > 0),
);

describe('the graph of power, several capabilities', () => {
  let server: TestServer;
  let writes: readonly Write[] = [];
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.close());

  it('whichever two somebody has, somebody has them and lacks any third', () => {
    for (const one of resources)
      for (const other of resources)
        for (const third of resources)
          if (third !== one && third !== other)
            assert.ok(lines.some((line) => line.includes(third) && !line.includes(one) && !line.includes(other)));
  });

  for (const [index, lacking] of lines.entries())
    it(`everything but ${lacking.join(', ')}`, async () => {
      const world = await makePowerWorld(server, index % 2 === 0);
      if (writes.length === 0) ({ writes } = await writesOf(world.tenant));
      const holds = ofTenant.filter((one) => !lacking.includes(resourceOf(one)));
      const { gains } = await grow(server, world, await actorWith(world.tenant, holds), writes, 'table');
      assert.deepEqual(gains, []);
    });
});
