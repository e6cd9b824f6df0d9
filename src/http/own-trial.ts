// Requests that our own pages make inside the process to try what somebody has just set up: they are no use of it, so that "last used" is told
// of others alone. Marked by a header that nobody outside can write: it is a secret of the process.
import type { FastifyRequest } from 'fastify';
import { equalText } from '../crypto/secret-hash.ts';
import { randomSecret } from '../platform/random.ts';

const header = 'gatehouse-own-trial';
const mark = randomSecret();

export const ownTrialHeaders: Readonly<Record<string, string>> = { [header]: mark };

export function isOwnTrial({ headers }: FastifyRequest): boolean {
  const given = headers[header];
  return typeof given === 'string' && equalText(given, mark);
}
