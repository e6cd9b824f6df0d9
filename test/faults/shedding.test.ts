// Where load shedding begins, and what does not begin it: a server that does not get the processor is not overloaded itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connectionWaitMsMax, loopLagFirstMsMax, loopLagMsMax } from '../../src/contract/limits.ts';
import { findOverload } from '../../src/http/load-shedding.ts';
import { createDataFolder, serveEmbedded } from '../support/gatehouse-process.ts';

describe('a machine that is slow for others', () => {
  it('a process with little to do that is stopped most of the time refuses nobody', async () => {
    const folder = createDataFolder();
    const served = serveEmbedded(folder.path);
    const url = await served.ready;
    const ask = async (): Promise<number> => {
      const response = await fetch(`${url}/v1/management/users`);
      await response.arrayBuffer();
      return response.status;
    };
    await ask(); // loads what the first request needs
    let goesOn = true;
    const stopping = (async () => {
      while (goesOn) {
        served.signal('SIGSTOP');
        await wait(360);
        served.signal('SIGCONT');
        await wait(40);
      }
    })();
    try {
      const statuses = new Set<number>();
      for (let turn = 0; turn < 40; turn += 1) {
        statuses.add(await ask());
        await wait(60); // one that asks at once again keeps it at work in each of the moments it is let run
      }
      assert.deepEqual([...statuses], [401]);
    } finally {
      goesOn = false;
      await stopping;
      served.signal('SIGTERM');
      await served.ended;
      folder.remove();
    }
  });
});

describe('where shedding begins', () => {
  it('loopLagFirstMsMax, loopLagMsMax and connectionWaitMsMax, at n and n+1', () => {
    const lag = (lagMs: number, turn: 'first' | 'last' | 'never') => findOverload({ lagMs, connectionWaitMs: 0 }, turn, false);
    assert.deepEqual([lag(loopLagFirstMsMax, 'first'), lag(loopLagFirstMsMax + 1, 'first')], [undefined, 'loop_lag']);
    assert.deepEqual([lag(loopLagMsMax, 'last'), lag(loopLagMsMax + 1, 'last')], [undefined, 'loop_lag']);
    assert.equal(lag(Number.POSITIVE_INFINITY, 'never'), undefined);
    const waited = (connectionWaitMs: number, isRemembered: boolean) => findOverload({ lagMs: 0, connectionWaitMs }, 'last', isRemembered);
    assert.deepEqual([waited(connectionWaitMsMax, false), waited(connectionWaitMsMax + 1, false)], [undefined, 'connections']);
    assert.equal(waited(connectionWaitMsMax + 1, true), undefined);
  });
});
