// The process in which tests run commands one after another (commands.ts): each has its own arguments, environment, folder and output,
// as `gatehouse` has them; what the start of a Node costs is paid once.
import { run } from '../../src/cli/run.ts';
import type { Ended } from './gatehouse-process.ts';

export interface Order {
  readonly folder: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const own = new Set(['PATH', 'NODE_COMPILE_CACHE']);
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0); // each command listens for the end of its reader

process.on('message', (order: Order) => void carryOut(order).then((ended) => process.send!(ended)));
process.once('disconnect', () => process.exit());

async function carryOut({ folder, args, environment }: Order): Promise<Ended> {
  for (const name of Object.keys(process.env)) if (!own.has(name)) delete process.env[name];
  Object.assign(process.env, { HOME: folder, ...environment });
  process.chdir(folder);
  const [stdout, stderr] = [keep(process.stdout), keep(process.stderr)];
  const code = await run(args).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    return 1;
  });
  return { code, signal: null, stdout: stdout.end(), stderr: stderr.end() };
}

/** Keeps what is written to a stream until `end` gives it. */
function keep(stream: NodeJS.WriteStream): { readonly end: () => string } {
  const parts: Buffer[] = [];
  const write = stream.write;
  stream.write = (part: string | Uint8Array, encoding?: BufferEncoding | (() => void), done?: () => void): boolean => {
    parts.push(typeof part === 'string' ? Buffer.from(part, typeof encoding === 'string' ? encoding : 'utf8') : Buffer.from(part));
    const told = typeof encoding === 'function' ? encoding : done;
    if (told !== undefined) process.nextTick(told);
    return true;
  };
  return {
    end: () => {
      stream.write = write;
      return Buffer.concat(parts).toString('utf8');
    },
  };
}
