// Quantiles of a histogram with fixed buckets. Pure.

export interface Bucket {
  /** Upper bound; Infinity for the last. */
  readonly upTo: number;
  /** Observations at or below it: cumulative, as Prometheus keeps them. */
  readonly count: number;
}

/** The value below which that share of the observations lies, interpolated within its bucket; undefined without observations. */
export function quantileOf(buckets: readonly Bucket[], share: number): number | undefined {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  let below: Bucket = { upTo: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count < rank || bucket.count === below.count) {
      below = bucket;
      continue;
    }
    // Beyond the last bound nothing is known but that bound.
    if (bucket.upTo === Number.POSITIVE_INFINITY) return below.upTo;
    return below.upTo + ((bucket.upTo - below.upTo) * (rank - below.count)) / (bucket.count - below.count);
  }
  return below.upTo === Number.POSITIVE_INFINITY ? undefined : below.upTo;
}
