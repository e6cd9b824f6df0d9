// What a release left behind under test/golden/<release>/: a dump and a backup of each database, the secrets that go with
// them, and the answers it gave. scripts/golden/make.ts makes them; nothing in them is ever changed by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { DatabaseName } from './databases.ts';

/** The public URL of every golden server: issuers and addresses in the answers are the same whatever port it had. */
export const goldenIssuer = 'https://id.golden.example';

export interface GoldenRequest {
  readonly method: 'GET' | 'POST';
  /** Below the public URL, e.g. `/t/golden/v1/management/clients`. */
  readonly path: string;
  /** Which of the secrets is the bearer. */
  readonly as?: 'management' | 'operator' | 'person';
}

export interface GoldenAnswer extends GoldenRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface GoldenRefresh {
  /** The body of the token request, all but the refresh token. */
  readonly form: Readonly<Record<string, string>>;
  readonly authorization?: string;
  readonly live: string;
  /** The one before: exchanged, so that showing it again ends the family. */
  readonly used: string;
}

export interface GoldenSecrets {
  readonly masterKey: string;
  readonly operatorToken: string;
  /** When the answers were given, in epoch milliseconds. */
  readonly recordedAtMs: number;
  readonly managementToken: string;
  readonly personToken: string;
  readonly tenant: string;
  readonly refresh: readonly GoldenRefresh[];
  readonly phone: { readonly deviceId: string; readonly keys: readonly GoldenKey[] };
}

export interface GoldenKey {
  readonly keyId: string;
  readonly purpose: 'pop' | 'uv';
  readonly alg: string;
  /** PKCS#8 in base64. */
  readonly privateKey: string;
}

export const goldenReleases = ['0.1.0'] as const;

const folderOf = (release: string): string => join(import.meta.dirname, '..', 'golden', release);
export const goldenFile = (release: string, name: string): string => join(folderOf(release), name);
const open = (release: string, name: string): Buffer => brotliDecompressSync(readFileSync(goldenFile(release, `${name}.br`)));

/** The database of the release: a SQLite file, or the SQL that makes it. */
export const readGoldenDump = (release: string, database: DatabaseName): Buffer =>
  open(release, database === 'sqlite' ? 'sqlite.db' : 'postgres.sql');
/** The archive its `gatehouse backup` wrote. */
export const readGoldenBackup = (release: string, database: DatabaseName): Buffer => open(release, `${database}-backup.tar`);
/** What its `gatehouse export` wrote. */
export const readGoldenDocument = (release: string, database: DatabaseName): string => open(release, `${database}.yaml`).toString();
export const readGoldenAnswers = (release: string, database: DatabaseName): readonly GoldenAnswer[] =>
  JSON.parse(open(release, `${database}-answers.json`).toString());
export const readGoldenSecrets = (release: string, database: DatabaseName): GoldenSecrets =>
  JSON.parse(readFileSync(goldenFile(release, `${database}-secrets.json`), 'utf8'));

/** Headers that differ between two answers to the same request, or follow from the body. */
const passing = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'content-length']);

/** Asks a server at `origin` and gives all of the answer that is the same every time. */
export async function askGolden(origin: string, request: GoldenRequest, secrets: GoldenSecrets): Promise<GoldenAnswer> {
  const { managementToken: management, operatorToken: operator, personToken: person } = secrets;
  const headers = request.as === undefined ? {} : { authorization: `Bearer ${{ management, operator, person }[request.as]}` };
  const response = await fetch(`${origin}${request.path}`, { method: request.method, headers, redirect: 'manual' });
  return {
    ...request,
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !passing.has(name))),
    body: await response.text(),
  };
}

/** The same JSON, members in the order of their names. */
export const byName = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
