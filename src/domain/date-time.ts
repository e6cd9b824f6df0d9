// Parses xsd:dateTime values as SCIM uses them (RFC 7643 section 2.3.5): up to nine fraction digits, an offset or Z;
// without either, UTC. Comparisons are on instants.

/** An instant in nanoseconds since the epoch. */
export type Nanoseconds = bigint;

const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;

/** The instant a date-time names, or undefined when it is not a valid one. */
export function parseDateTime(text: string): Nanoseconds | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number]; // six groups that always take part in a match
  const offset = offsetMinutes(match[8] ?? 'Z');
  if (offset === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const milliseconds = date.getTime() - offset * 60_000;
  return BigInt(milliseconds) * 1_000_000n + BigInt((match[7] ?? '').padEnd(9, '0'));
}

/** Milliseconds since the epoch as an RFC 3339 date-time in UTC. */
export function formatDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function daysInMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

function offsetMinutes(text: string): number | undefined {
  if (text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 14 || minutes > 59 || (hours === 14 && minutes > 0)) return undefined;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}
