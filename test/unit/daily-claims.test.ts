// What is told once a day: for each tenant apart, as many as it may have, and again the next day.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchangesToldPerDayMax } from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createDailyClaims } from '../../src/oidc/grants/daily-claims.ts';

const [ours, theirs] = ['ours', 'theirs'] as unknown as readonly [TenantId, TenantId];
const dayMs = 86_400_000;
const nowMs = 20_000 * dayMs;

describe('daily claims', () => {
  it('once a day, until midnight in UTC; one that was released again', () => {
    const { claim, release } = createDailyClaims(exchangesToldPerDayMax);
    assert.deepEqual([claim(ours, 'a', nowMs), claim(ours, 'a', nowMs + dayMs - 1), claim(ours, 'a', nowMs + dayMs)], [true, false, true]);
    release(ours, 'a');
    assert.equal(claim(ours, 'a', nowMs + dayMs), true);
  });

  it('a neighbour who has more than its share is told no more, and takes nothing of ours', () => {
    const { claim } = createDailyClaims(exchangesToldPerDayMax);
    assert.equal(claim(ours, 'a', nowMs), true);
    for (let at = 0; at < exchangesToldPerDayMax; at++) assert.equal(claim(theirs, `${at}`, nowMs), true);
    assert.equal(claim(theirs, `${exchangesToldPerDayMax}`, nowMs), false);
    assert.equal(claim(theirs, '0', nowMs), false, 'nothing is forgotten for it');
    assert.deepEqual([claim(ours, 'a', nowMs), claim(ours, 'b', nowMs)], [false, true]);
    assert.equal(claim(theirs, `${exchangesToldPerDayMax}`, nowMs + dayMs), true);
  });
});
