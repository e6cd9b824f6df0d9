// The graph of power (power-graph.test.ts): what takes several capabilities.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOfTenant } from '../support/power-growth.ts';
import { powerOf } from '../support/power-of.ts';

describe('the graph of power, what takes several', () => {
  const power = powerOf((needs) => needs.length > 1);

  it('is done by whoever holds exactly those, and nobody grows', async () => {
    const sets = new Map(
      power
        .writes()
        .filter((write) => isOfTenant(write) && write.judged.undone === undefined && write.judged.needs.length > 1)
        .map(({ judged: { needs } }) => [needs.join(' '), needs]),
    );
    assert.ok(sets.size > 3);
    for (const needs of sets.values()) await power.nobodyGrows(needs);
  });

  power.eachWasDone();
});
