// Times on the wire: ISO 8601 in UTC.

export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();
