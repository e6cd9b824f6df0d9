// Makes test/golden/<release>/ from a checkout of that release (with its node_modules), on both databases:
//   scripts/with-services node scripts/golden/make.ts <checkout> <release>
// Once a release is out its folder is made, and never again: the tests show that later code opens it and answers the same.
// It needs pg_dump, and scripts/with-services for the PostgreSQL it fills.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliCompressSync, constants } from 'node:zlib';
import pg from 'pg';
import { createPasskey } from '../../test/support/authenticator.ts';
import { askGolden, type GoldenAnswer, type GoldenSecrets, goldenFile, goldenIssuer } from '../../test/support/golden.ts';
import { createCaller } from './caller.ts';
import { fillServer, goldenTenant } from './fill.ts';
import { goldenRequests } from './requests.ts';

interface Place {
  readonly name: 'sqlite' | 'postgres';
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly url: string | undefined;
}

const [checkout, release] = process.argv.slice(2);
const server = process.env['GATEHOUSE_TEST_POSTGRES_URL'];
if (checkout === undefined || release === undefined || server === undefined)
  throw new Error('expected: scripts/with-services node scripts/golden/make.ts <checkout> <release>');
const launcher = join(resolve(checkout), 'bin', 'gatehouse');
const operatorToken = 'operator-token-of-the-golden-server';

mkdirSync(goldenFile(release, '.'), { recursive: true });
for (const name of ['sqlite', 'postgres'] as const) await makeGolden(release, name);

async function makeGolden(of: string, name: Place['name']): Promise<void> {
  const masterKey = randomBytes(32).toString('base64');
  const place = await createPlace(name, masterKey);
  run(place, 'migrate');
  const filling = await start(place);
  const { tenantId, userId, ...filled } = await fillServer(filling.origin, operatorToken);
  await answersOf(filling.origin, { ...filled, masterKey, recordedAtMs: 0 }); // what is made when it is first asked for is in the dump
  await filling.stop();
  await insertPasskey(place, tenantId, userId);
  run(place, 'backup', join(place.folder, 'backup.tar'));
  run(place, 'export', '--tenant', goldenTenant, '--with-secrets', '--out', join(place.folder, 'document.yaml'));
  write(of, name === 'sqlite' ? 'sqlite.db' : 'postgres.sql', dump(place));
  write(of, `${name}-backup.tar`, readFileSync(join(place.folder, 'backup.tar')));
  write(of, `${name}.yaml`, readFileSync(join(place.folder, 'document.yaml')));
  const answering = await start(place);
  const secrets: GoldenSecrets = { ...filled, masterKey, recordedAtMs: Date.now() };
  const answers = await answersOf(answering.origin, secrets);
  await answering.stop();
  write(of, `${name}-answers.json`, Buffer.from(JSON.stringify(answers)));
  writeFileSync(goldenFile(of, `${name}-secrets.json`), `${JSON.stringify(secrets, undefined, 2)}\n`);
  rmSync(place.folder, { recursive: true });
  console.log(
    `${name}: ${answers.length} answers, ${answers
      .filter(({ status }) => status !== 200)
      .map(({ path, status }) => `${status} ${path}`)
      .join(', ')}`,
  );
}

async function answersOf(origin: string, secrets: GoldenSecrets): Promise<readonly GoldenAnswer[]> {
  const answers: GoldenAnswer[] = [];
  for (const request of await goldenRequests(createCaller(origin), `${goldenIssuer}/t/${goldenTenant}`, secrets.managementToken))
    answers.push(await askGolden(origin, request, secrets));
  return answers;
}

async function createPlace(name: Place['name'], masterKey: string): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-golden-'));
  const url = name === 'sqlite' ? undefined : await createDatabase();
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GATEHOUSE_DATA: folder,
    GATEHOUSE_DEV: '1',
    GATEHOUSE_LOG_LEVEL: 'warn',
    GATEHOUSE_MASTER_KEY: masterKey,
    GATEHOUSE_PUBLIC_URL: goldenIssuer,
    ...(url === undefined ? {} : { GATEHOUSE_DATABASE_URL: url }),
  };
  return { name, folder, environment, url };
}

async function createDatabase(): Promise<string> {
  const url = new URL(server!);
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query('CREATE DATABASE gatehouse_golden TEMPLATE template0');
  await client.end();
  url.pathname = '/gatehouse_golden';
  return url.href;
}

async function start({ folder, environment }: Place): Promise<{ readonly origin: string; readonly stop: () => Promise<void> }> {
  const child: ChildProcess = spawn(launcher, ['serve', '--listen', '127.0.0.1:18473'], {
    cwd: folder,
    env: { ...environment, GATEHOUSE_OPERATOR_TOKEN: operatorToken },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill());
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  await new Promise<void>((ready, failed) => {
    child.stdout?.on('data', (chunk: Buffer) => chunk.toString().includes('gatehouse ready') && ready());
    child.on('close', (code) => failed(new Error(`the server ended with ${code}`)));
  });
  return {
    origin: 'http://127.0.0.1:18473',
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function run({ folder, environment }: Place, ...args: readonly string[]): void {
  execFileSync(launcher, args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A passkey's row, as its registration at the account page leaves it. */
async function insertPasskey({ folder, url }: Place, tenantId: string, userId: string): Promise<void> {
  const { credentialId, publicKey } = createPasskey(goldenIssuer, userId);
  const values = [
    tenantId,
    '01920000-0000-7000-8000-000000000001',
    userId,
    credentialId,
    publicKey,
    7,
    '["internal","hybrid"]',
    1,
    1,
    '00000000-0000-0000-0000-000000000000',
    'Laptop',
    1_790_000_000_000,
  ];
  const columns =
    'tenant_id, id, user_id, credential_id, public_key, counter, transports, backup_eligible, backed_up, aaguid, name, created_at';
  const insert = (marks: readonly string[]): string => `INSERT INTO passkeys (${columns}) VALUES (${marks.join(', ')})`;
  if (url === undefined) {
    const database = new DatabaseSync(join(folder, 'gatehouse.db'));
    database.prepare(insert(values.map(() => '?'))).run(...values);
    return database.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(insert(values.map((_value, at) => `$${at + 1}`)), values);
  await client.end();
}

function dump({ folder, url }: Place): Buffer {
  if (url !== undefined) {
    const sql = execFileSync('pg_dump', ['--inserts', '--rows-per-insert=200', '--no-owner', '--no-privileges', url], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    return Buffer.from(sql.replaceAll(/^\\.*\n/gm, '')); // commands of psql: the tests restore by a client
  }
  const copy = join(folder, 'copy.db');
  const database = new DatabaseSync(join(folder, 'gatehouse.db'));
  database.prepare('VACUUM INTO ?').run(copy);
  database.close();
  return readFileSync(copy);
}

function write(of: string, name: string, bytes: Buffer): void {
  writeFileSync(goldenFile(of, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }));
}
