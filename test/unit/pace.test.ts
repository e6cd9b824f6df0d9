// Long work that lets others go on (design 21, 3).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { longWorkTurnMsMax } from '../../src/contract/limits.ts';
import { createPace } from '../../src/platform/turns/pace.ts';

describe('work of many items', () => {
  const items = async (count: number, ms: number): Promise<number> => {
    const pace = createPace(longWorkTurnMsMax);
    let turns = 0;
    let goesOn = true;
    const count1 = (): void => {
      turns += 1;
      if (goesOn) setImmediate(count1);
    };
    setImmediate(count1);
    for (let item = 0; item < count; item += 1) {
      await pace();
      const untilMs = performance.now() + ms;
      while (performance.now() < untilMs);
    }
    goesOn = false;
    return turns;
  };
  it('longWorkTurnMsMax: items that take as long let others go on between them', async () =>
    assert.ok((await items(20, longWorkTurnMsMax)) >= 19));
  it('of many at once one goes on in each turn of the loop', async () => {
    const turns: number[] = [];
    let turn = 0;
    let goesOn = true;
    const countTurn = (): void => {
      turn += 1;
      if (goesOn) setImmediate(countTurn);
    };
    const work = async (): Promise<void> => {
      const pace = createPace(0);
      for (let item = 0; item < 3; item += 1) {
        await pace();
        turns.push(turn);
      }
    };
    setImmediate(countTurn);
    await Promise.all([work(), work(), work()]);
    goesOn = false;
    assert.equal(new Set(turns).size, 9, turns.join(' '));
  });
  it('the first item does not wait', async () => assert.equal(await items(1, 1), 0));
});
