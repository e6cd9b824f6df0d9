// The graph of power (design 17, 2), several capabilities at once: whoever holds all but some tries every write by which somebody could
// grow. Rows and columns here, diagonals in power-diagonals.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columns, diagonals, nobodyGrowsWithout, resources, rows } from '../support/power-lines.ts';

describe('the graph of power, several capabilities', () => {
  it('whichever two somebody has, somebody has them and lacks any third', () => {
    const lines = [...columns, ...rows, ...diagonals];
    for (const one of resources)
      for (const other of resources)
        for (const third of resources)
          if (third !== one && third !== other)
            assert.ok(lines.some((line) => line.includes(third) && !line.includes(one) && !line.includes(other)));
  });

  nobodyGrowsWithout([...columns, ...rows]);
});
