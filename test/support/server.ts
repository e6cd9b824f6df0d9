// A running server for tests: the real composition on a real database, listening on a free port, with a clock the test moves.

import { type Config, type Flags, readConfig } from '../../src/config.ts';
import { signingAlgorithms } from '../../src/crypto/signing/signing.ts';
import { createLog } from '../../src/platform/log.ts';
import type { PushOrigins } from '../../src/platform/push/senders.ts';
import { type Gatehouse, startGatehouse } from '../../src/server/compose.ts';
import { createTestDatabase, type DatabaseName, type TestDatabase } from './databases.ts';
import { freshRsaKeys } from './rsa-keys.ts';
import { shakeWhereAsked } from './shaken-database.ts';

// Half of a test server's processor time were the primes of its tenants' keys. Programs that tests start make their own as ever.
Object.assign(signingAlgorithms.RS256, { generate: async () => freshRsaKeys() });

export const operatorToken = 'operator-token-of-the-tests';

export interface TestClock {
  readonly nowMs: () => number;
  /** Moves time forward for the process and, on PostgreSQL, for the database. */
  readonly advance: (ms: number) => Promise<void>;
}

export interface TestServer {
  readonly url: string;
  readonly gatehouse: Gatehouse;
  readonly clock: TestClock;
  readonly config: Config;
  readonly database: TestDatabase;
  /** Log lines written so far. */
  readonly logLines: readonly string[];
  readonly close: () => Promise<void>;
}

export interface TestServerOptions {
  readonly flags?: Flags;
  /** Another server's database: a second node. It is not dropped by this server's close. */
  readonly database?: TestDatabase;
  readonly clock?: TestClock;
  readonly pushOrigins?: PushOrigins;
  /** True: a first start makes the sample tenant, as the program does. */
  readonly withSample?: boolean;
  /** Takes the lines of the access log. */
  readonly accessLog?: (line: string) => void;
  /** True: an overloaded server refuses (http/load-shedding.ts). Elsewhere it serves: tests beside it, in the same process and on the same machine, are no load on it. */
  readonly shedsLoad?: boolean;
}

/** Starts a server in this process. Development mode is on, so mails go to the outbox and can be read. */
export async function startTestServer(name: DatabaseName, options: TestServerOptions = {}): Promise<TestServer> {
  const database = options.database ?? (await createTestDatabase(name));
  const clock = options.clock ?? createTestClock(database);
  const flags = {
    listen: '127.0.0.1:0',
    data: database.dataFolder,
    dev: '1',
    operator_token: operatorToken,
    log_level: 'warn',
    database_timeout_ms: '60000', // what waits on a busy machine is no failure; tests of outages say how long they wait
    ...(database.databaseUrl === undefined ? {} : { database_url: database.databaseUrl }),
    ...options.flags,
  };
  const config = readConfig(flags, {}, database.dataFolder);
  const logLines: string[] = [];
  try {
    const gatehouse = await startGatehouse(config, {
      clock,
      pushOrigins: options.pushOrigins,
      withSample: options.withSample ?? false,
      ...(options.accessLog === undefined ? {} : { accessLog: options.accessLog }),
      log: createLog(config.logLevel, { write: (line) => void logLines.push(line) }),
    });
    shakeWhereAsked(gatehouse.services.database);
    if (options.shedsLoad !== true) {
      Object.assign(gatehouse.app, { loopLagMs: () => 0 });
      Object.assign(gatehouse.services.database, { waitingMs: () => 0 });
    }
    return {
      url: gatehouse.publicUrl,
      gatehouse,
      clock,
      config,
      database,
      logLines,
      close: async () => {
        await gatehouse.close();
        if (options.database === undefined) await database.drop();
      },
    };
  } catch (error) {
    if (options.database === undefined) await database.drop();
    throw error;
  }
}

function createTestClock(database: TestDatabase): TestClock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    advance: async (ms) => {
      offsetMs += ms;
      await database.setOffsetMs(offsetMs);
    },
  };
}
