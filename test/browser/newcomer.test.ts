// A newcomer's path, with what README.md and docs/quick-start.md say and nothing else: a fresh clone, `npm start`, the printed
// link in a browser, a simulated phone in a second terminal, and the console. Timed from the start on; `npm ci` is done.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';

const root = join(import.meta.dirname, '..', '..');
/** What the way may take on the slowest machine; on an idle one it takes about three seconds. */
const timeoutMs = 60_000;

if (hasChromium)
  describe('a newcomer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-newcomer-'));
    const clone = join(folder, 'gatehouse');
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_')));
    let browser: Browser;
    let server: ChildProcess | undefined;
    before(async () => {
      browser = await launchChromium();
      inTerminal('git', ['clone', '--quiet', '--no-hardlinks', root, clone], folder);
      symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    });
    after(async () => {
      await browser?.close();
      if (server !== undefined && server.exitCode === null) {
        const ended = new Promise((resolve) => server!.once('close', resolve));
        process.kill(-server.pid!, 'SIGTERM'); // npm and what it started
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    });

    function inTerminal(command: string, args: readonly string[], cwd = clone): string {
      const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env: environment, timeout: timeoutMs });
      assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
      return stdout;
    }

    /** `npm start` on a free port; gives the link it prints for the first administrator. */
    function start(): Promise<string> {
      server = spawn('npm', ['start', '--', '--listen', '127.0.0.1:0'], {
        cwd: clone,
        env: environment,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return new Promise((resolve, reject) => {
        let output = '';
        const look = (chunk: Buffer): void => {
          output += chunk.toString();
          const link = /^Administrator .* (http\S+)$/m.exec(output)?.[1];
          if (link !== undefined && /^gatehouse ready http/m.test(output)) resolve(link);
        };
        server!.stdout!.on('data', look);
        server!.stderr!.on('data', look);
        server!.once('close', (code) => reject(new Error(`npm start ended with ${code}: ${output}`)));
      });
    }

    it(`is in the console within ${timeoutMs / 1000} s of npm start`, async () => {
      const said = readFileSync(join(clone, 'README.md'), 'utf8');
      for (const step of ['npm ci && npm start', 'gatehouse phone enrol', 'gatehouse phone approve --number', '/console'])
        assert.ok(said.includes(step), `README.md does not say: ${step}`);
      const link = await start();
      const page = await (await browser.newContext()).newPage();
      page.setDefaultTimeout(timeoutMs);
      await page.goto(link);
      await page.fill('#email', 'ada@example.com');
      await page.click('#continue');

      const [, command, enrolLink] = /^(\S+) phone enrol --link '(\S+)'$/.exec((await page.textContent('#simulator')) ?? '')!;
      assert.equal(inTerminal(command!, ['phone', 'enrol', '--link', enrolLink!]).trim(), 'Enrolled.');

      await page.click('#console');
      await page.fill('#identifier', 'ada@example.com');
      await page.press('#identifier', 'Enter');
      await page.click('#use-phone');
      const number = ((await page.textContent('#approve-number')) ?? '').trim();
      assert.match(inTerminal(command!, ['phone', 'approve', '--number', number]), /^Approved /);
      await page.waitForURL('**/console');
      assert.equal(await page.textContent('h1'), 'Overview');
    });
  });
