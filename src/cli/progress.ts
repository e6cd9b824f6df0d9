// Progress of long work, on standard error: for people at a terminal, or with --progress; never with --json.
import type { Command } from 'commander';
import type { Options } from './registry/administrator.ts';

export interface Progress {
  /** One more of these is done. */
  readonly step: (what: string) => void;
  /** So much of a known whole is done. */
  readonly part: (what: string, done: number, whole: number) => void;
  /** Ends the line. */
  readonly end: () => void;
}

const everyMs = 100;
const barChars = 24;

export function addProgressOption(command: Command): Command {
  return command.option('--progress', 'show progress on standard error even if it is not a terminal');
}

export function createProgress(options: Options, stream: NodeJS.WriteStream = process.stderr): Progress {
  const isShown = options['json'] !== true && (stream.isTTY === true || options['progress'] === true);
  if (!isShown) return { step: () => undefined, part: () => undefined, end: () => undefined };
  const counts = new Map<string, number>();
  let shownAt = Number.NEGATIVE_INFINITY;
  let pending: string | undefined;
  const show = (text: string): void => {
    pending = text;
    const now = performance.now();
    if (now - shownAt < everyMs) return;
    shownAt = now;
    flush();
  };
  const flush = (): void => {
    if (pending === undefined) return;
    stream.write(stream.isTTY === true ? `\r\u001b[K${pending}` : `${pending}\n`);
    pending = undefined;
  };
  return {
    step: (what) => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      show([...counts].map(([name, count]) => `${name} ${count}`).join('  '));
    },
    part: (what, done, whole) => {
      const share = whole === 0 ? 1 : done / whole;
      const filled = Math.round(share * barChars);
      show(`${what} [${'='.repeat(filled)}${' '.repeat(barChars - filled)}] ${Math.round(share * 100)}%`);
    },
    end: () => {
      flush();
      if (stream.isTTY === true) stream.write('\n');
    },
  };
}
