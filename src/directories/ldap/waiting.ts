// Waits for a socket, no longer than may be, and says what became of it instead. Every wait on a directory is one of these.
import type { Socket } from 'node:net';
import { faultOf } from './faults.ts';

/** How long answers may take together: waits come off it, what is done between them does not. */
export interface Allowance {
  leftMs: number;
}

/**
 * Resolves when the socket says so.
 * @param signal gives up, told as a time-out
 * @throws DirectoryFault where the connection fails, ends or is given up before
 */
export async function waitFor(
  socket: Socket,
  name: 'connect' | 'secureConnect' | 'readable',
  signal: AbortSignal,
  allowance: Allowance,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: Error & { readonly code?: string }): void =>
    // What is no TLS, or none that is spoken here.
    reject(faultOf(/^(?:ERR_SSL_|EPROTO$)/.test(error.code ?? '') ? 'malformed' : 'unreachable', messageOf(error)));
  const onEnd = (): void => reject(faultOf('unreachable', 'the connection was closed'));
  const onTime = (): void => reject(faultOf('timeout', 'no answer in time'));
  const done = (): void => resolve();
  const beganAt = performance.now();
  const timer = setTimeout(onTime, Math.max(0, allowance.leftMs));
  socket.once(name, done).once('error', onError).once('end', onEnd).once('close', onEnd);
  signal.addEventListener('abort', onTime, { once: true });
  if (signal.aborted) onTime();
  if (socket.errored) onError(socket.errored);
  if (socket.destroyed || socket.readableEnded) onEnd();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    allowance.leftMs -= performance.now() - beganAt;
    socket.off(name, done).off('error', onError).off('end', onEnd).off('close', onEnd);
    signal.removeEventListener('abort', onTime);
  }
}

export const messageOf = (error: unknown): string => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || String(error);
};
