// The examples of the API reference, run as a reader runs them: curl, Node and Python send the same request for every operation, and a
// server does with it what the reference says. Python comes from scripts/install-judges; without it the other two are compared.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { examplePersonId } from '../../scripts/api-examples.ts';
import { blocksOf, documents, root } from '../support/documents.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly authorization: string;
  readonly type: string;
  /** Parsed when it is JSON. */
  readonly body: unknown;
}

const index = 'docs/api.md';
const pages = documents.filter((document) => document.startsWith('docs/reference/api/'));
const python = findJudge('guide-python');

const textsOf = (document: string, language: string): readonly string[] =>
  blocksOf(document).flatMap((block) => (block.language === language ? [block.text] : []));

/** What the examples read from variables besides addresses and tokens: parameters of paths. */
const names = [
  ...new Set(
    pages.flatMap((page) => textsOf(page, 'bash')).flatMap((text) => [...text.matchAll(/\/\$([A-Z0-9_]+)/g)].map(([, name]) => name!)),
  ),
];

/** Runs a program that must succeed; gives what it printed. */
function run(command: readonly string[], cwd: string, environment: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const [file, ...args] = command as [string, ...string[]];
    const child = spawn(file, args, { cwd, env: { ...process.env, ...environment } });
    let output = '';
    let complaint = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(output.trim()) : reject(new Error(`${file} ended with ${code}: ${complaint}`))));
  });
}

/** How a reader runs examples of each language, one after the other. */
const programs: Readonly<Record<string, (examples: readonly string[]) => readonly string[]>> = {
  bash: (examples) => ['bash', '-euo', 'pipefail', '-c', examples.join('\n')],
  javascript: (examples) => [
    process.execPath,
    '--input-type=module',
    '--eval',
    `import { readFileSync } from 'node:fs';
const { BASE_URL, PUBLIC_URL, TOKEN, OPERATOR_TOKEN, ${names.join(', ')} } = process.env;
${examples.map((text) => `{\n${text}}`).join('\n')}`,
  ],
  ...(python === undefined
    ? {}
    : {
        python: (examples) => [
          join(realpathSync(python), 'bin', 'python3'),
          '-c',
          `import httpx, os\nglobals().update(os.environ)\n${examples.join('\n')}`,
        ],
      }),
};

describe('examples of the API reference', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-api-'));
  const seen: Sent[] = [];
  let recorder: Server;
  let recorderUrl: string;
  let server: TestServer;
  let tenant: Managed;
  const byPage = new Map<string, readonly Sent[]>();
  before(async () => {
    writeFileSync(join(folder, 'logo.png'), readFileSync(join(root, 'test', 'docs', 'api-examples', 'logo.png')));
    writeFileSync(join(folder, 'metadata.xml'), readFileSync(join(root, 'test', 'docs', 'api-examples', 'metadata.xml')));
    recorder = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const { authorization = '', 'content-type': type = '' } = headers;
        const bytes = Buffer.concat(chunks);
        const body = type === 'application/json' ? JSON.parse(bytes.toString()) : bytes.toString('base64');
        seen.push({ method, target: url, authorization, type, body });
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => recorder.once('listening', resolve));
    recorderUrl = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`; // listening on TCP
    server = await startTestServer('sqlite');
    tenant = await createTestTenant(server);
  });
  after(async () => {
    recorder.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('the first page gets a token in every language', async () => {
    const environment = { BASE_URL: tenant.baseUrl, ADMIN: `${tenant.adminClientId}:${tenant.adminClientSecret}` };
    const shown = { bash: 'echo "$TOKEN"', javascript: 'console.log(TOKEN);', python: 'print(TOKEN)' };
    for (const [language, command] of Object.entries(programs)) {
      const [text] = textsOf(index, language === 'bash' ? 'sh' : language);
      const alone = command([]).slice(0, -1);
      const token = await run([...alone, `${text}\n${shown[language as keyof typeof shown]}`], folder, environment);
      assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/, language);
    }
  });

  it('curl, Node and Python send the same request for each operation', async () => {
    const fixed = Object.fromEntries(names.map((name) => [name, name]));
    const environment = { ...fixed, BASE_URL: recorderUrl, PUBLIC_URL: recorderUrl, TOKEN: 'TOKEN', OPERATOR_TOKEN: 'OPERATOR_TOKEN' };
    const sent = new Map<string, readonly Sent[]>();
    for (const [language, command] of Object.entries(programs)) {
      seen.length = 0;
      await run(command(pages.flatMap((page) => textsOf(page, language))), folder, environment);
      sent.set(language, [...seen]);
    }
    const all = sent.get('bash')!;
    for (const [language, requests] of sent) assert.deepEqual(requests, all, language);
    let from = 0;
    for (const page of pages) {
      const count = blocksOf(page).filter(({ language }) => language === 'bash').length;
      byPage.set(page, all.slice(from, from + count));
      from += count;
    }
    assert.equal(all.length, from);
    assert.ok([...byPage.values()].flat().length > 100);
  });

  it('a server does what each operation says: nothing of an example is refused as wrong', async () => {
    const { id: person } = await createTestUser(tenant, 'ada@example.com');
    const surprises: string[] = [];
    let accepted = 0;
    for (const requests of byPage.values()) {
      let made: string | undefined;
      // What is made is deleted last.
      const isEnd = ({ method, target }: Sent): boolean => method === 'DELETE' && /^\/v1\/\w+\/[\w-]+\/ID$/.test(target);
      for (const sent of [...requests.filter((one) => !isEnd(one)), ...requests.filter(isEnd)]) {
        const { status, answer } = await send(sent, made ?? person, person);
        if (status >= 300 && status !== 404 && status !== 409) surprises.push(`${sent.method} ${sent.target}: ${status} ${answer}`);
        if (status < 300) accepted += 1;
        const id = status === 201 && /^\/v1\/\w+\/[\w-]+$/.test(sent.target) ? JSON.parse(answer) : {};
        made ??= id.id ?? id.client_id ?? id.items?.[0]?.id;
      }
    }
    // The others ask for what is not there, such as a session of somebody who has not signed in.
    assert.ok(accepted > 75, `${accepted} accepted`);
    // Nothing was asked of the example's provider that an administrator must approve.
    const nothingWaits = /metadata-refresh\/approve: 400 .*No host waits for approval/;
    // Nor is there anything at the example's address.
    const nobodyThere = /import\/address: 400 .*The host of this address is not known/;
    assert.deepEqual(
      surprises.filter((one) => !nothingWaits.test(one) && !nobodyThere.test(one)),
      [],
    );
  });

  /** Sends what an example sent, the ids those of things that are there. */
  async function send(
    { method, target, type, authorization, body }: Sent,
    id: string,
    person: string,
  ): Promise<{ readonly status: number; readonly answer: string }> {
    const isSystem = authorization === 'Bearer OPERATOR_TOKEN';
    const path = target.replace(/\/ID(?=[/?]|$)/, `/${id}`).replace('/USER_ID', `/${person}`);
    const json = JSON.stringify(body).replaceAll(examplePersonId, person);
    const response = await fetch(`${isSystem ? server.url : tenant.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${isSystem ? operatorToken : tenant.token}`, ...(type === '' ? {} : { 'content-type': type }) },
      ...(type === '' ? {} : { body: type === 'application/json' ? json : Buffer.from(String(body), 'base64') }),
    });
    // A server with too much to do says so; a client asks again.
    if (response.status === 503) return send({ method, target, type, authorization, body }, id, person);
    return { status: response.status, answer: await response.text() };
  }
});
