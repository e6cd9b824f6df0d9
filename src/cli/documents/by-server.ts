// `plan` and `apply` on a server elsewhere: the document is read and checked here, so that a mistake has its line, and followed there by the
// Management API. The job has no secret: the token of its platform stands for one (design 18, 3).
import { readFileSync } from 'node:fs';
import { type Declared, documentVersion, type Section } from '../../administration/declaration/document.ts';
import { isSingle, readDeclarations } from '../../administration/declaration/reader.ts';
import { type Change, checkDocument, type Reconciled } from '../../administration/declaration/reconcile.ts';
import { managementBodyBytesMax } from '../../contract/limits.ts';
import { isLoopbackHost } from '../../domain/client/client-uris.ts';
import { machineGrantType } from '../../domain/oidc/grant-types.ts';
import { CommandFailure, usage } from '../failure.ts';
import { type Options, write } from '../registry/administrator.ts';
import { describeChange, linesOf, type Run, report } from './document-file.ts';

const answerMsMax = 10 * 60_000;

/** As runDocument does beside the database. @throws CommandFailure */
export async function runByServer(file: string, options: Options, run: Run): Promise<void> {
  const server = serverOf(String(options['server']));
  const platformToken = platformTokenOf(file, options['tokenFile']);
  const document = await documentOf(file);
  const { write: writes, prune } = run;
  const body = JSON.stringify({ document, ...(prune && { prune }), ...(!writes && { plan: true }) });
  if (Buffer.byteLength(body) > managementBodyBytesMax)
    throw usage(
      `--file: expected at most ${managementBodyBytesMax} bytes as JSON, found ${Buffer.byteLength(body)}. Run it beside the database`,
    );
  const token = await tokenOf(server, platformToken, options['clientId']);
  const answer = await ask(server, '/v1/management/document', {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
  const { secrets, ...done } = answer as unknown as Answer; // the API's shape
  const isJson = options['json'] === true;
  if (!isJson && run.lists) for (const change of done.changes) write(describeChange(change));
  const print = (json: unknown, lines: string | readonly string[]): void =>
    write(isJson ? JSON.stringify(json) : [lines].flat().join('\n'));
  const known = secrets.map(({ client_id: clientId, client_secret: secret }) => ({ clientId, secret }));
  report({ print }, { ...done, secrets: known }, run);
}

interface Answer extends Omit<Reconciled, 'secrets'> {
  readonly changes: readonly Change[];
  readonly secrets: readonly { readonly client_id: string; readonly client_secret: string }[];
}

/** @throws CommandFailure: whoever listens on the way would be the job */
function serverOf(text: string): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === null || !isSafe || url.search !== '' || url.hash !== '' || url.username !== '')
    throw usage(`--server: expected an address such as https://id.example.com/t/acme, found ${JSON.stringify(text)}`);
  return text.replace(/\/+$/, '');
}

function platformTokenOf(file: string, from: unknown): string {
  if (from === undefined) throw usage('--token-file: expected a file with the token that the platform gave this job, found none');
  if (from === '-' && file === '-') throw usage('--token-file: expected a file where the document is standard input, found -');
  try {
    return readFileSync(from === '-' ? 0 : String(from), 'utf8').trim();
  } catch {
    throw usage(`--token-file: expected a file to read, found none at ${String(from)}`);
  }
}

async function documentOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  const items: Declared[] = [];
  for await (const item of readDeclarations(linesOf(file))) items.push(item);
  await checkDocument(items);
  const document: Record<string, unknown> = { gatehouse: documentVersion };
  for (const [section, own] of Map.groupBy(items, ({ section: of }): Section => of)) {
    const values = own.map(({ value }) => value);
    document[section] = isSingle(section) ? values[0] : values;
  }
  return document;
}

/** A token of the Management API for the token of the platform. */
async function tokenOf(server: string, platformToken: string, clientId: unknown): Promise<string> {
  const form = new URLSearchParams({
    grant_type: machineGrantType,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: platformToken,
    ...(clientId !== undefined && { client_id: String(clientId) }),
  });
  return String((await ask(server, '/v1/idp/oidc/token', { body: form }))['access_token']);
}

async function ask(server: string, path: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  const timeout = AbortSignal.timeout(answerMsMax);
  const answer = await fetch(`${server}${path}`, { method: 'POST', redirect: 'manual', signal: timeout, ...init }).catch((error) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CommandFailure(`--server: expected a server at ${server}, found none: ${cause}`);
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as Readonly<Record<string, unknown>>; // the API answers objects
  const requestId = answer.headers.get('x-request-id') ?? '';
  throw new CommandFailure(
    `${server}${path}: expected ${path.endsWith('token') ? 'a token' : 'the document to be followed'}, found ${answer.status} ${text}\nRequest id ${requestId}. Why, beside the database: gatehouse explain ${requestId}`,
  );
}
