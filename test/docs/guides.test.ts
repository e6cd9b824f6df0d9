// The guides that sign people in to a web app, as a stranger follows them: the document's registration, its files and its start, then
// Chromium: cancelled first, then signed in with the code read at /dev/mail, up to the claims. What is changed is the app's port. The
// libraries come from scripts/install-judges, a folder for each language; a guide whose folder is missing is not tested here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import * as oidc from 'openid-client';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { blocksOf, fileBlockOf, root } from '../support/documents.ts';
import { createUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startWebProgram, type WebProgram } from '../support/web-program.ts';

/** The folder with what a guide's reader installs. */
function librariesOf(language: string): string | undefined {
  const found = findJudge(`guide-${language}`);
  return found === undefined ? undefined : realpathSync(found);
}

interface App {
  /** Where its files are. */
  readonly folder: string;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface Guide {
  readonly document: string;
  /** The address the document names. */
  readonly address: string;
  /** Files of the document, and where its text puts those it does not name by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly libraries: string | undefined;
  /** True: the app is made below the libraries, where its language looks for them. */
  readonly isInside?: boolean;
  readonly start: (app: App, libraries: string) => Promise<WebProgram>;
  /** What the document says to do to get to the sign-in page. */
  readonly leave: (page: Page, url: string) => Promise<unknown>;
  /** The path that shows the claims. */
  readonly claimsAt: string;
  /** The path **Cancel** leads to. */
  readonly cancelledAt: string;
}

const inPlace = (...names: readonly string[]): Readonly<Record<string, string>> => Object.fromEntries(names.map((name) => [name, name]));
const portOf = (url: string): string => new URL(url).port;
const at =
  (path: string) =>
  (page: Page, url: string): Promise<unknown> =>
    page.goto(`${url}${path}`);

/** A tool that must succeed, without any network. */
function build(command: string, args: readonly string[], cwd: string): void {
  const environment = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod' };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env: environment });
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
}

const guides: readonly Guide[] = [
  {
    document: 'docs/how-to/oidc-react.md',
    address: 'http://localhost:5173',
    files: inPlace('vite.config.js', 'index.html', 'main.jsx'),
    libraries: librariesOf('node'),
    isInside: true,
    start: ({ folder, url, environment }, libraries) =>
      startWebProgram(url, [join(libraries, 'node_modules', '.bin', 'vite'), '--port', portOf(url), '--strictPort'], {
        cwd: folder,
        environment,
      }),
    leave: async (page, url) => {
      await page.goto(url);
      await page.click('text=Sign in');
    },
    claimsAt: '/',
    cancelledAt: '/',
  },
  {
    document: 'docs/how-to/oidc-nextjs.md',
    address: 'http://localhost:3000',
    files: inPlace('lib/gatehouse.ts', 'app/sign-in/route.ts', 'app/callback/route.ts', 'app/me/route.ts'),
    libraries: librariesOf('node'),
    isInside: true,
    start: ({ folder, url, environment }, libraries) =>
      startWebProgram(`${url}/me`, [join(libraries, 'node_modules', '.bin', 'next'), 'dev', '--port', portOf(url)], {
        cwd: folder,
        environment: { ...environment, NEXT_TELEMETRY_DISABLED: '1' },
      }),
    leave: at('/sign-in'),
    claimsAt: '/me',
    cancelledAt: '/me',
  },
  {
    document: 'docs/how-to/oidc-fastapi.md',
    address: 'http://localhost:8000',
    files: inPlace('main.py'),
    libraries: librariesOf('python'),
    start: ({ folder, url, environment }, libraries) =>
      startWebProgram(url, [join(libraries, 'bin', 'uvicorn'), 'main:app', '--host', 'localhost', '--port', portOf(url)], {
        cwd: folder,
        environment: { ...environment, APP_URL: url },
      }),
    leave: at('/sign-in'),
    claimsAt: '/',
    cancelledAt: '/',
  },
  {
    document: 'docs/how-to/oidc-go.md',
    address: 'http://localhost:3000',
    files: inPlace('main.go'),
    libraries: librariesOf('go'),
    start: ({ folder, url, environment }, libraries) => {
      for (const file of ['go.mod', 'go.sum']) copyFileSync(join(libraries, file), join(folder, file));
      build('go', ['build', '-o', 'app', '.'], folder);
      return startWebProgram(url, [join(folder, 'app')], { environment: { ...environment, APP_URL: url } });
    },
    leave: at('/sign-in'),
    claimsAt: '/',
    cancelledAt: '/',
  },
  {
    document: 'docs/how-to/oidc-spring.md',
    address: 'http://localhost:8081',
    files: { 'application.yaml': 'application.yaml', 'MyApp.java': 'MyApp.java', 'pom.xml': 'pom.xml' },
    libraries: librariesOf('spring'),
    start: ({ folder, url, environment }, libraries) => {
      const jars = `${libraries}/*`;
      build('javac', ['-parameters', '-cp', jars, '-d', '.', 'MyApp.java'], folder);
      const light = ['-Xmx192m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
      return startWebProgram(url, ['java', ...light, '-cp', `.:${jars}`, 'com.example.MyApp', `--server.port=${portOf(url)}`], {
        cwd: folder,
        environment,
        patienceSeconds: 120,
      });
    },
    leave: at('/me'),
    claimsAt: '/me',
    cancelledAt: '/',
  },
];

if (hasChromium)
  describe('guides in Chromium', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-guides-'));
    let server: TestServer;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite', { flags: { dev: '0' }, withSample: true });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Runs the document's registration, with the app's own address. What it leaves for the app is in the environment that comes back. */
    const register = (document: string, place: string, change: (text: string) => string): Readonly<Record<string, string>> => {
      const script = change(blocksOf(document).find(({ language }) => language === 'sh')!.text);
      const checkout = join(place, 'gatehouse');
      mkdirSync(join(checkout, 'bin'), { recursive: true });
      writeFileSync(join(checkout, 'bin', 'gatehouse'), `#!/bin/sh\nexec "${join(root, 'bin', 'gatehouse')}" "$@"\n`);
      chmodSync(join(checkout, 'bin', 'gatehouse'), 0o755);
      const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: checkout,
        encoding: 'utf8',
        env: { ...process.env, GATEHOUSE_DATA: server.database.dataFolder },
      });
      assert.equal(status, 0, stderr);
      const [, file] = /\.\.\/(my-\S+\/\.gatehouse\/app\.env)/.exec(script) ?? [];
      if (file === undefined) return { CLIENT_ID: /Client (\S+) of/.exec(stdout)![1]! };
      return parseEnv(readFileSync(join(place, file), 'utf8')) as Record<string, string>;
    };

    /** One mailbox gets one code a minute, so each guide has somebody of its own; the first has the person of the first start. */
    let guests = 0;
    const nextPerson = async (): Promise<string> => {
      guests += 1;
      if (guests === 1) return 'ada@example.com';
      const { services } = server.gatehouse;
      return (await createUser(services, (await services.tenants.bySlug('sample'))!, `guest${guests}@example.com`)).email;
    };

    /** The sign-in page's part, up to the code. */
    const signIn = async (page: Page, email: string): Promise<void> => {
      await page.fill('#identifier', email);
      await page.press('#identifier', 'Enter');
      await page.click('#use-email');
      const [mailbox] = await Promise.all([page.context().waitForEvent('page'), page.click('#dev-mail')]);
      const [, pin] = /\b(\d{6})\b/.exec(await mailbox.innerText('article p.mono'))!;
      await mailbox.close();
      await page.fill('#pin', pin!);
      await page.click('#verify');
    };

    /** Pages of Gatehouse say nothing against their policy while somebody is sent through them. */
    const open = async (): Promise<{ readonly page: Page; readonly seen: string[] }> => {
      const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
      const seen: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused to|blocked by CORS/.test(message.text())) seen.push(message.text());
      });
      return { page, seen };
    };

    for (const guide of guides.filter(({ libraries }) => libraries !== undefined))
      it(`${guide.document}: its app shows the claims of who signs in, and nobody's when they cancel`, async () => {
        const { document, address, libraries, leave, claimsAt, cancelledAt } = guide;
        const url = `http://localhost:${await freePort()}`;
        const place = mkdtempSync(join(guide.isInside === true ? libraries! : folder, 'app-'));
        let program: WebProgram | undefined;
        const { page, seen } = await open();
        try {
          const environment = register(document, place, (text) => text.replaceAll(address, url));
          for (const [name, path] of Object.entries(guide.files)) {
            mkdirSync(dirname(join(place, path)), { recursive: true });
            writeFileSync(join(place, path), fileBlockOf(document, name));
          }
          program = await guide.start({ folder: place, url, environment }, libraries!);

          await leave(page, url);
          await page.click('#cancel');
          await page.waitForURL((to) => to.href.startsWith(`${url}${cancelledAt}`));
          await page.waitForSelector('text=Nobody is signed in');

          await leave(page, url);
          const email = await nextPerson();
          await signIn(page, email);
          await page.waitForURL((to) => to.href.startsWith(`${url}${claimsAt}`));
          await page.waitForSelector(`text=${email}`);
          assert.match((await page.textContent('body')) ?? '', /Ada Lovelace/);
          assert.deepEqual(seen, []);
        } finally {
          await page.context().close();
          await program?.close();
          rmSync(place, { recursive: true, force: true });
        }
      });

    it('docs/how-to/oidc-mobile.md: its client gets an answer at its scheme in a browser, claims from the code, and an error when cancelled', async () => {
      const { CLIENT_ID: clientId } = register('docs/how-to/oidc-mobile.md', join(folder, 'mobile'), (text) => text);
      const insecure = { execute: [oidc.allowInsecureRequests] };
      const config = await oidc.discovery(new URL(`${server.url}/t/sample`), clientId!, undefined, oidc.None(), insecure);
      const verifier = oidc.randomPKCECodeVerifier();
      const authorize = oidc.buildAuthorizationUrl(config, {
        redirect_uri: 'com.example.app:/callback',
        scope: 'openid profile email offline_access',
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      /** Signs in or not in a browser of its own; gives what it hands over to the app. */
      const answer = async (act: (page: Page) => Promise<void>): Promise<URL> => {
        const { page, seen } = await open();
        try {
          // Chromium follows no redirect to a scheme that no app of the machine has, and shows it to its developer tools alone.
          const tools = await page.context().newCDPSession(page);
          await tools.send('Network.enable');
          const handedOver = new Promise<URL>((resolve) => {
            tools.on('Network.responseReceivedExtraInfo', ({ headers }) => {
              const location = headers['location'] ?? headers['Location'] ?? '';
              if (location.startsWith('com.example.app:/')) resolve(new URL(location));
            });
          });
          await page.goto(authorize.href);
          await act(page);
          const answered = await handedOver;
          assert.deepEqual(seen, []);
          return answered;
        } finally {
          await page.context().close();
        }
      };
      const cancelled = await answer((page) => page.click('#cancel'));
      assert.equal(cancelled.searchParams.get('error'), 'access_denied');
      const email = await nextPerson();
      const tokens = await oidc.authorizationCodeGrant(config, await answer((page) => signIn(page, email)), { pkceCodeVerifier: verifier });
      const claims = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()!.sub);
      assert.deepEqual([claims.email, claims.name], [email, 'Ada Lovelace']);
      assert.ok((await oidc.refreshTokenGrant(config, tokens.refresh_token!)).access_token);
    });
  });
