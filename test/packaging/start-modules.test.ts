// What a start loads stays within the budget of each group of modules (bench/start-modules.ts).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGatehouse } from '../../bench/process.ts';
import { modulesOfStart } from '../../bench/start-modules.ts';
import { createDataFolder } from '../support/gatehouse-process.ts';

it('a start loads no more modules of any group than its budget', async () => {
  const folder = createDataFolder();
  try {
    await (await startGatehouse(folder.path)).stop(); // what only a first start needs is not counted
    const groups = await modulesOfStart(folder.path);
    assert.ok(
      groups.every(({ modules }) => modules > 0),
      'a group has no module',
    );
    assert.deepEqual(
      groups.filter(({ modules, budget }) => modules > budget),
      [],
    );
  } finally {
    folder.remove();
  }
});
