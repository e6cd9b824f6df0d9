// What a socket brings, cut into messages of LDAP. Nothing is read before somebody asks for it, so a server that sends without end waits; what is
// kept is at most one message, in a buffer that doubles, so that neither many small pieces nor a length that lies cost more than they are.
import type { Socket } from 'node:net';
import { directoryMessageBytesMax } from '../../contract/directory-limits.ts';
import { berTag, MalformedAnswer, OversizedAnswer, readBerHead } from './ber.ts';
import { faultOf } from './faults.ts';
import { type Allowance, waitFor } from './waiting.ts';

export interface Messages {
  /** One whole message, head and all. @throws DirectoryFault */
  readonly next: (allowance: Allowance) => Promise<Buffer>;
  /** Whether more came than was asked for. */
  readonly hasMore: () => boolean;
}

const firstBytes = 64 * 1024;

export function createMessages(socket: Socket, signal: AbortSignal): Messages {
  let kept = Buffer.allocUnsafe(firstBytes);
  let [begin, end] = [0, 0];
  const append = (chunk: Buffer): void => {
    if (kept.length - end < chunk.length) {
      const bytes = end - begin;
      const larger = bytes + chunk.length > kept.length / 2 ? Buffer.allocUnsafe(2 * (bytes + chunk.length)) : kept;
      kept.copy(larger, 0, begin, end);
      kept = larger;
      [begin, end] = [0, bytes];
    }
    chunk.copy(kept, end);
    end += chunk.length;
  };
  return {
    next: async (allowance) => {
      const beganAt = performance.now();
      const left = (): number => allowance.leftMs - (performance.now() - beganAt);
      try {
        if (allowance.leftMs <= 0) throw faultOf('timeout', 'no answer in time');
        for (;;) {
          if (begin < end && kept[begin] !== berTag.sequence) throw faultOf('malformed', 'something that is no message of LDAP');
          const head = readable(() => readBerHead(kept, begin, end));
          const bytes = head === undefined ? undefined : head.headBytes + head.bytes;
          if (bytes !== undefined && bytes > directoryMessageBytesMax) throw faultOf('malformed', `a message of ${bytes} bytes`);
          if (bytes !== undefined && end - begin >= bytes) {
            const message = Buffer.from(kept.subarray(begin, begin + bytes));
            begin += bytes;
            // What a large message took is given back.
            if (begin === end) {
              [begin, end] = [0, 0];
              if (kept.length > 16 * firstBytes) kept = Buffer.allocUnsafe(firstBytes);
            }
            return message;
          }
          const chunk = socket.read() as Buffer | null; // of a socket without an encoding
          if (chunk === null) await waitFor(socket, 'readable', signal, { leftMs: left() });
          else append(chunk);
        }
      } finally {
        allowance.leftMs = left();
      }
    },
    hasMore: () => begin !== end || socket.readableLength > 0,
  };
}

/** What a server sent, read. @throws DirectoryFault where it cannot be */
export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof OversizedAnswer) throw faultOf('too_many', error.message);
    throw error instanceof MalformedAnswer ? faultOf('malformed', error.message) : error;
  }
}
