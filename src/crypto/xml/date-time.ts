// The one form of time SAML writes: xs:dateTime in UTC (SAML core 1.3.3).

const utcDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/** Milliseconds since the epoch, or undefined for anything but a UTC xs:dateTime. */
export function parseUtcDateTime(value: string | undefined): number | undefined {
  if (value === undefined || !utcDateTime.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
