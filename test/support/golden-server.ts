// Today's code on the database of a past release, at the moment that release gave its answers: expiries are as they were.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from './commands.ts';
import { createTestDatabase, type DatabaseName, onServer, type TestPlace } from './databases.ts';
import type { Ended } from './gatehouse-process.ts';
import { type GoldenSecrets, goldenIssuer, readGoldenBackup, readGoldenDump, readGoldenSecrets } from './golden.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface GoldenServer {
  readonly server: TestServer;
  readonly secrets: GoldenSecrets;
  /** Where it listens; what it says of itself is `goldenIssuer`. */
  readonly origin: string;
  /** Runs a command beside it. */
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  readonly close: () => Promise<void>;
}

/** @param from The dump the release's database was kept as, or the archive its `gatehouse backup` wrote. */
export async function startGoldenServer(release: string, name: DatabaseName, from: 'dump' | 'backup' = 'dump'): Promise<GoldenServer> {
  const secrets = readGoldenSecrets(release, name);
  const database = await createTestDatabase(name, (place) =>
    from === 'dump' ? openDump(place, readGoldenDump(release, name)) : restoreBackup(place, readGoldenBackup(release, name), secrets),
  );
  const offsetMs = secrets.recordedAtMs - Date.now();
  await database.setOffsetMs(offsetMs);
  const server = await startTestServer(name, {
    database,
    clock: { nowMs: () => Date.now() + offsetMs, advance: () => Promise.reject(new Error('a golden server stays at its moment')) },
    flags: { public_url: goldenIssuer, master_key: secrets.masterKey, operator_token: secrets.operatorToken },
  });
  const { port } = server.gatehouse.app.server.address() as AddressInfo; // it listens
  return {
    server,
    secrets,
    origin: `http://127.0.0.1:${port}`,
    command: (...args) => runBeside(database, secrets, args),
    close: async () => {
      await server.close();
      await database.drop();
    },
  };
}

async function openDump({ dataFolder, databaseUrl }: TestPlace, dump: Buffer): Promise<void> {
  if (databaseUrl === undefined) writeFileSync(join(dataFolder, 'gatehouse.db'), dump);
  else await onServer(databaseUrl, (client) => client.query(dump.toString()));
}

async function restoreBackup(place: TestPlace, archive: Buffer, secrets: GoldenSecrets): Promise<void> {
  const file = `${place.dataFolder}.tar`;
  writeFileSync(file, archive);
  const { code, stderr } = await runBeside(place, secrets, ['restore', file]);
  rmSync(file);
  assert.equal(code, 0, stderr);
}

function runBeside({ dataFolder, databaseUrl }: TestPlace, { masterKey }: GoldenSecrets, args: readonly string[]): Promise<Ended> {
  const environment = {
    GATEHOUSE_DEV: '1',
    GATEHOUSE_LOG_LEVEL: 'silent',
    GATEHOUSE_DATA: dataFolder,
    GATEHOUSE_MASTER_KEY: masterKey,
    ...(databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl }),
  };
  return runCommand(dataFolder, args, environment);
}
