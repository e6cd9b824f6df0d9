// Somebody who has nothing but the repository: clones it, runs the README's command, follows the Express guide, and is signed in
// to an own app. Every command, file, address and word is taken out of the documents.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openWalker } from './walker.ts';

const root = join(import.meta.dirname, '..');
const guide = 'docs/how-to/oidc-express.md';

export interface Started {
  /** The clone. */
  readonly folder: string;
  /** What the start printed, and prints. */
  readonly said: () => string;
  readonly stop: () => Promise<void>;
}

/** Clones and runs the first command of the README until it is ready. */
export async function startFromClone(into: string): Promise<Started> {
  execFileSync('git', ['clone', '--quiet', root, join(into, 'gatehouse')]);
  const folder = join(into, 'gatehouse');
  const [command] = blocksIn(join(folder, 'README.md'), 'sh');
  return { folder, ...(await startInShell(command!, folder, /^gatehouse ready (\S+)/m)) };
}

/** The guide, to the claims in the app's page, and once more with Cancel. Gives what the app showed. */
export async function followExpressGuide(browser: Browser, { folder }: Started): Promise<string> {
  const document = readFileSync(join(folder, guide), 'utf8');
  const [register] = blocksIn(join(folder, guide), 'sh');
  const [install, start] = blocksIn(join(folder, guide), 'console');
  execFileSync('sh', ['-ec', register!], { cwd: folder, stdio: 'pipe' });
  const app = join(folder, '..', 'my-app');
  execFileSync('sh', ['-ec', install!.replace('cd ../my-app', `cd ${app}`)], { cwd: folder, stdio: 'pipe' });
  const [file] = blocksIn(join(folder, guide), 'js');
  writeFileSync(join(app, /^\/\/ (\S+)/.exec(file!)![1]!), file!);
  const server = await startInShell(start!, app, /listening on (\S+)/);
  try {
    const said = /Open <(\S+)>/.exec(document)![1]!;
    const person = /Enter `(\S+)`, the sample person/.exec(document)![1]!;
    const method = /then \*\*(Email .+?)\*\*/.exec(document)![1]!;
    const mail = /Read the mail at <(\S+?)>/.exec(document)![1]!;
    const walker = await openWalker(browser, 'mouse');
    await walker.page.goto(said);
    await walker.press('Cancel');
    await walker.sees('Nobody is signed in');
    await walker.page.goto(said);
    await walker.type(/email/i, person);
    await walker.enter();
    await walker.press(new RegExp(`^${method}`)); // its name goes on with what it does
    const code = await readCode(browser, mail);
    await walker.type(/code/i, code);
    await walker.enter();
    await walker.sees(person);
    const claims = (await walker.page.textContent('body')) ?? '';
    await walker.close();
    return claims;
  } finally {
    await server.stop();
  }
}

async function readCode(browser: Browser, mailbox: string): Promise<string> {
  const page = await (await browser.newContext()).newPage();
  for (let turn = 0; turn < 50; turn += 1) {
    await page.goto(mailbox);
    const code = /\b(\d{6})\b/.exec(await page.innerText('main'))?.[1];
    if (code !== undefined) {
      await page.context().close();
      return code;
    }
    await page.waitForTimeout(200);
  }
  throw new Error(`expected a mail with a code at ${mailbox}, found none`);
}

/** The blocks of a language in a document, in order. */
function blocksIn(path: string, language: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, of]) => of === language)
    .map(([, , text]) => text!);
}

/** Runs a command until it says that it is ready; ends it with all it started. */
export async function startInShell(
  command: string,
  cwd: string,
  ready: RegExp,
): Promise<{ readonly said: () => string; readonly stop: () => Promise<void> }> {
  const child: ChildProcess = spawn('sh', ['-ec', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      output += chunk.toString();
      if (ready.test(output)) resolve();
    };
    child.stdout!.on('data', look);
    child.stderr!.on('data', look);
    child.once('close', (code) => reject(new Error(`expected ${command.trim()} to be ready, found its end (${code}): ${output}`)));
  });
  return {
    said: () => output,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once('close', resolve));
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
    },
  };
}
