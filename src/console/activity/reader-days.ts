// Days as the reader counts them: the zone comes from their browser, by the console's script; without it days are those of UTC.

const dayMs = 86_400_000;

/** The moments, in epoch milliseconds, a day begins and ends in a zone of IANA; undefined for what is no day. An unknown zone is UTC. */
export function dayOf(day: string, zone: string): { readonly fromMs: number; readonly toMs: number } | undefined {
  const utcMs = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(utcMs) ? undefined : { fromMs: startMs(utcMs, zone), toMs: startMs(utcMs + dayMs, zone) };
}

/** When clocks of the zone show that midnight. Asked twice, since the offset may have changed since UTC's. */
function startMs(utcMs: number, zone: string): number {
  const offset = (atMs: number): number => wallMs(atMs, zone) - atMs;
  return utcMs - offset(utcMs - offset(utcMs));
}

/** What clocks of the zone show, as if it were UTC. */
function wallMs(atMs: number, zone: string): number {
  try {
    return Date.parse(`${new Date(atMs).toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T')}Z`); // ISO 8601, but for the blank
  } catch {
    return atMs; // RangeError: no such zone
  }
}
