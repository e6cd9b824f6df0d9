// Ports for programs that must be told theirs; a server of ours listens on port 0 and says where. A port that was bound and given back may be
// anybody's a moment later: these lie below the range the system hands out, and the process that was given one holds it by a file until it ends.
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lowest = 20_000;
/** No run lasts as long: what is older was left by a process that was killed. */
const heldMsMax = 86_400_000;
const held: string[] = [];

/** Below the ports of outgoing connections and of port 0. */
const above = systemRangeFrom();

function systemRangeFrom(): number {
  try {
    return Math.max(lowest + 1000, Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]));
  } catch {
    return 32_768; // elsewhere the range begins above
  }
}

process.once('exit', () => {
  for (const file of held) rmSync(file, { force: true });
});

/** A port of 127.0.0.1 that nobody listens on and no other test is given while this process runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (above - lowest));
    if (hold(join(tmpdir(), `gatehouse-port-${port}`)) && (await isFree(port))) return port;
  }
}

/** True for the one process that makes the file. */
function hold(file: string): boolean {
  try {
    const left = statSync(file, { throwIfNoEntry: false });
    if (left !== undefined && left.mtimeMs < Date.now() - heldMsMax) rmSync(file, { force: true });
    closeSync(openSync(file, 'wx'));
  } catch {
    return false;
  }
  held.push(file);
  return true;
}

/** False while a program that asks nobody listens there. */
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
