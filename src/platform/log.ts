// Structured logs: JSON lines on standard error. Secrets are redacted by key name before anything is written.
import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

const secretKeys = [
  'authorization',
  'cookie',
  'password',
  'pin',
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'refresh_token',
  'access_token',
  'id_token',
  'id_token_hint',
  'token',
  'secret',
  'private_key',
  'master_key',
  'registration_token',
  'enrollment_token',
];

/** A logger at the given level; `destination` is for tests, standard error otherwise. */
export function createLog(level: string, destination?: { write: (line: string) => void }): Log {
  const redact = { paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' };
  const options = { level, redact, base: null, messageKey: 'message', timestamp: () => `,"time":"${new Date().toISOString()}"` };
  return destination === undefined ? pino(options, pino.destination({ fd: 2, sync: true })) : pino(options, destination);
}
