// A server as a process with commands run beside it on the same data, as an operator does.
import assert from 'node:assert/strict';
import { runCommand } from './commands.ts';
import { createTestDatabase, type DatabaseName, type TestDatabase } from './databases.ts';
import { type Ended, type GatehouseProcess, runGatehouse } from './gatehouse-process.ts';
import { operatorToken } from './server.ts';

export interface Running {
  readonly database: TestDatabase;
  readonly server: GatehouseProcess;
  readonly url: string;
  /** Starts a command beside the server that goes on until it is told to end. */
  readonly start: (...args: readonly string[]) => GatehouseProcess;
  /** Runs a command beside the server. */
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  /** Runs a command with --json that must succeed. */
  readonly json: <T>(...args: readonly string[]) => Promise<T>;
  /** Runs a command that must fail: its exit code, its words on standard error, nothing on standard output. */
  readonly fails: (code: number, message: RegExp, ...args: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts a server on a fresh database; stop() ends it and leaves nothing. */
export async function startBesideCommands(name: DatabaseName): Promise<Running> {
  const database = await createTestDatabase(name);
  const environment = {
    GATEHOUSE_DEV: '1',
    GATEHOUSE_LOG_LEVEL: 'silent',
    GATEHOUSE_DATA: database.dataFolder,
    ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
  };
  const server = runGatehouse(database.dataFolder, {
    args: ['serve', '--listen', '127.0.0.1:0'],
    environment: { ...environment, GATEHOUSE_OPERATOR_TOKEN: operatorToken },
  });
  const start = (...args: readonly string[]): GatehouseProcess => runGatehouse(database.dataFolder, { args, environment });
  const command = (...args: readonly string[]): Promise<Ended> => runCommand(database.dataFolder, args, environment);
  const json = async <T>(...args: readonly string[]): Promise<T> => {
    const { code, stdout, stderr } = await command(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as T; // the caller names the shape it expects
  };
  const fails = async (code: number, message: RegExp, ...args: readonly string[]): Promise<void> => {
    const ended = await command(...args);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, message);
    assert.equal(ended.stdout, '');
  };
  const stop = async (): Promise<void> => {
    server.signal('SIGTERM');
    assert.equal((await server.ended).code, 0);
    await database.drop();
  };
  return { database, server, url: await server.ready, start, command, json, fails, stop };
}

const betweenAsksMs = 50; // below the limit of failures an address has

/** Asks until the answer has the status: another process notices a change at its next look. */
export async function untilStatus(ask: () => Promise<Response>, status: number): Promise<void> {
  for (;;) {
    const response = await ask();
    await response.body?.cancel();
    if (response.status === status) return;
    await new Promise((resolve) => setTimeout(resolve, betweenAsksMs));
  }
}
