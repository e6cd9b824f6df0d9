// Why a directory cannot be read, as administrators are told: by what the server answered (RFC 4511 appendix A.2) or what became of the
// connection. What the server says itself is shown without what it could do to a terminal, and without the password. Pure.
import { directoryDetailCharsMax } from '../../contract/directory-limits.ts';
import type { DirectoryFailure } from '../../domain/extending/directory-runs.ts';
import { withoutCredentials } from '../../domain/extending/told-answer.ts';
import { DirectoryFault } from '../reading.ts';
import type { Done } from './answers.ts';

type Reason = DirectoryFailure['reason'];

/** Control and format characters (they turn text around, or ring), halves of characters, and what takes its own line. */
const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** One line of at most 1,024 characters. Of what a server says at length, which may be 32 MiB, only the beginning is looked at. */
export const shownText = (text: string, charsMax = directoryDetailCharsMax): string => {
  const line = text
    .slice(0, 4 * charsMax)
    .replaceAll(unsafe, ' ')
    .trim();
  return line.length <= charsMax
    ? line
    : line
        .slice(0, charsMax)
        .toWellFormed()
        .replace(/\u{fffd}$/u, '');
};

/** @param password that is shown nowhere, even where the server says it */
export function faultOf(reason: Reason, detail: string, password = ''): DirectoryFault {
  const text = shownText(withoutCredentials(detail, [password]));
  return new DirectoryFault({ reason, detail: text === '' ? null : text });
}

const code = {
  timeLimitExceeded: 3,
  sizeLimitExceeded: 4,
  partialResults: 9,
  referral: 10,
  adminLimitExceeded: 11,
  noSuchObject: 32,
  invalidDnSyntax: 34,
  busy: 51,
  unavailable: 52,
} as const;

const answered: Readonly<Record<number, Reason>> = {
  [code.timeLimitExceeded]: 'partial',
  [code.sizeLimitExceeded]: 'partial',
  [code.partialResults]: 'partial',
  [code.adminLimitExceeded]: 'partial',
  [code.noSuchObject]: 'no_entry',
  [code.invalidDnSyntax]: 'no_entry',
  [code.referral]: 'no_entry',
  [code.busy]: 'unreachable',
  [code.unavailable]: 'unreachable',
  // Too little is allowed to whom we signed in as, or to anybody.
  ...{ 7: 'refused', 8: 'refused', 13: 'refused', 48: 'refused', 49: 'refused', 50: 'refused', 53: 'refused' },
};

/** Of an operation that ended otherwise than well. */
export function faultOfAnswer({ operation, code: number, text }: Done, password: string): DirectoryFault {
  const said = `result ${number}${text === '' ? '' : `: ${text}`}`;
  const isOfServer = number === code.busy || number === code.unavailable;
  return faultOf(operation === 'bind' && !isOfServer ? 'refused' : (answered[number] ?? 'malformed'), said, password);
}
