// How far changes of a directory are read, by its own numbers and times; our clock says nothing here.
//
// Active Directory numbers every change of a server of its own (`uSNChanged`); `highestCommittedUSN` is asked for before anything is read. The numbers
// of another server are others, and so are those of one that was restored, which then has another `invocationId` (MS-ADTS 3.1.1.1.9).
//
// Others say when an entry was changed (`modifyTimestamp`), but none says what time it is. An entry that was read `e` seconds after the beginning
// and had changed at `t` puts the beginning at `t - e` or later, so the latest of these is a time before which everything was read; `e` is
// measured, not told by a clock. Changes are asked for from 60 seconds before, for servers that replicate one another.
import type { ChangeMark } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import { fileTimeOf } from './disabled.ts';
import { textsOf } from './entry.ts';

/** What a server says of itself, where it numbers changes. */
interface NumberedChanges {
  readonly highest: bigint;
  /** Whose numbers these are. */
  readonly server: string;
}

export interface Changes {
  /** What a search asks for besides, so that how far it came is known. */
  readonly asked: readonly string[];
  readonly observe: (entry: RawEntry) => void;
  /** From where the next run reads, once everything was read; undefined: nothing was said that tells. */
  readonly mark: () => ChangeMark | undefined;
  readonly canReadSince: (mark: ChangeMark) => boolean;
  /** A filter for what changed since. Time that passed changes people too: `expiringMs` is until when they have. */
  readonly filterSince: (mark: ChangeMark) => string;
}

const overlapSeconds = 60;
const timesOfEntries = 'modifyTimestamp';
const number = /^\d{1,20}$/;
const dayMs = 86_400_000;
/** Of accounts that expired: longer than from one full run to the next. */
const expiredMs = 8 * dayMs;

/** @param nowMs as the server says it */
export function numberedChanges({ highest, server }: NumberedChanges, nowMs: number): Changes {
  const canReadSince = ({ mark, server: whose }: ChangeMark): boolean => whose === server && number.test(mark) && BigInt(mark) <= highest;
  return {
    asked: [],
    observe: () => undefined,
    mark: () => ({ mark: String(highest), server }),
    canReadSince,
    // Nothing is written when an account expires, so those that did lately are read too.
    filterSince: ({ mark }) =>
      `(|(uSNChanged>=${BigInt(mark) + 1n})(&(accountExpires>=${fileTimeOf(nowMs - expiredMs)})(accountExpires<=${fileTimeOf(nowMs)})))`,
  };
}

/** @param elapsedSeconds since before anything was read */
export function timedChanges(elapsedSeconds: () => number): Changes {
  let beganAfter: number | undefined;
  const later = (seconds: number): void => {
    beganAfter = Math.max(seconds, beganAfter ?? seconds);
  };
  return {
    asked: [timesOfEntries],
    observe: (entry) => {
      const [changedAt] = textsOf(entry, timesOfEntries.toLowerCase()).flatMap((text) => secondsOf(text) ?? []);
      if (changedAt !== undefined) later(changedAt - Math.ceil(elapsedSeconds()));
    },
    mark: () => (beganAfter === undefined ? undefined : { mark: timeOf(beganAfter), server: timesOfEntries }),
    canReadSince: ({ mark, server }) => server === timesOfEntries && secondsOf(mark) !== undefined,
    filterSince: ({ mark }) => {
      const since = secondsOf(mark) ?? 0;
      later(since);
      return `(${timesOfEntries}>=${timeOf(since - overlapSeconds)})`;
    },
  };
}

const generalizedTime = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?(?:[.,]\d+)?(?:Z|([+-])(\d\d)(\d\d)?)$/;

/** Whole seconds since 1970 of a GeneralizedTime (RFC 4517 3.3.13); undefined for what is none. */
export function secondsOf(text: string): number | undefined {
  const found = generalizedTime.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const [sign, hours, minutes] = [found[7], found[8], found[9]];
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const offset = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes ?? 0)) * 60 * (sign === '-' ? -1 : 1);
  return Number.isFinite(ms) ? ms / 1000 - offset : undefined;
}

/** As every server takes it. */
const timeOf = (seconds: number): string =>
  new Date(Math.max(0, seconds) * 1000).toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '');
