// Quantiles of bucketed observations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quantileOf } from '../../src/platform/quantile.ts';

const infinite = Number.POSITIVE_INFINITY;

describe('quantileOf', () => {
  it('nothing observed has no quantile', () => {
    assert.equal(quantileOf([], 0.5), undefined);
    assert.equal(
      quantileOf(
        [
          { upTo: 1, count: 0 },
          { upTo: infinite, count: 0 },
        ],
        0.5,
      ),
      undefined,
    );
  });
  it('lies within the bucket that holds its rank', () => {
    const buckets = [
      { upTo: 1, count: 10 },
      { upTo: 2, count: 10 },
      { upTo: 4, count: 20 },
      { upTo: infinite, count: 20 },
    ];
    assert.equal(quantileOf(buckets, 0.25), 0.5);
    assert.equal(quantileOf(buckets, 0.5), 1);
    assert.equal(quantileOf(buckets, 0.75), 3);
    assert.equal(quantileOf(buckets, 1), 4);
  });
  it('beyond the last bound it is that bound', () => {
    assert.equal(
      quantileOf(
        [
          { upTo: 5, count: 0 },
          { upTo: infinite, count: 3 },
        ],
        0.5,
      ),
      5,
    );
  });
});
