// The graph of power (power-graph.test.ts): what is written of people and of how they get in, by every capability alone.
import { describe, it } from 'node:test';
import { ofTenant } from '../support/power-growth.ts';
import { isOfPeople, powerOf } from '../support/power-of.ts';

describe('the graph of power, people', () => {
  const power = powerOf((needs) => needs.length === 1 && needs.every(isOfPeople));

  for (const capability of ofTenant.filter(isOfPeople)) it(`${capability} alone`, async () => power.nobodyGrows([capability]));

  it('sign-in:write alone, where every administrator has a phone', async () => power.nobodyGrows(['sign-in:write'], false));

  power.eachWasDone();
});
