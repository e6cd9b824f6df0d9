// A driver of `gatehouse phone conformance --driver` for the SDK's browser adapter: Chromium with a profile and a virtual authenticator
// that outlive the program, and in it the modules of the SDK as the server serves them.
import { existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { type Device, DeviceError, type KeyVault, NoAnswerError, type StateStore } from '../../sdk/device.ts';
import { answerCommand, type Command } from '../../sdk/driver/commands.ts';
import { chromiumOptions } from './chromium.ts';

const { GATEHOUSE_BASE_URL: baseUrl = '', GATEHOUSE_STATE: folder = '' } = process.env;
const credentialsFile = join(folder, 'credentials.json');
const profile = join(folder, 'profile');
const lock = join(profile, 'SingletonLock');

/** sdk/browser.ts, whose types are those of a page. */
interface BrowserEntry {
  readonly createBrowserVault: (names: { readonly site: string; readonly person: string }) => KeyVault;
  readonly indexedDbStore: <Value>(name: string) => StateStore<Value>;
}

interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const page = await openPage();

async function openPage(): Promise<Page> {
  endOldBrowser();
  const context = await chromium.launchPersistentContext(profile, chromiumOptions());
  const opened = context.pages()[0] ?? (await context.newPage());
  const at = `${baseUrl}/conformance`;
  await opened.route(at, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Conformance</title>' }));
  await opened.goto(at);
  const session = await context.newCDPSession(opened);
  const authenticator = await addAuthenticator(session);
  await opened.exposeFunction('saveCredentials', async () => {
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId: authenticator });
    writeFileSync(credentialsFile, JSON.stringify(credentials));
  });
  const files = /\/phone\/app\/[\w-]+\//.exec(await (await fetch(`${baseUrl}/phone`)).text())?.[0] ?? '';
  await opened.evaluate(startDevice, { baseUrl, files: `${baseUrl}${files}sdk/` });
  return opened;
}

/** The browser of a driver that was killed may not have noticed yet. Its lock names it. */
function endOldBrowser(): void {
  try {
    process.kill(Number(/\d+$/.exec(readlinkSync(lock))?.[0]), 'SIGKILL');
  } catch {
    // there is none any more
  }
  rmSync(lock, { force: true });
}

async function addAuthenticator(session: CDPSession): Promise<string> {
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const saved = existsSync(credentialsFile) ? JSON.parse(readFileSync(credentialsFile, 'utf8')) : [];
  for (const credential of saved) await session.send('WebAuthn.addCredential', { authenticatorId, credential });
  return authenticatorId;
}

/** Runs in the page. */
async function startDevice({ baseUrl: issuer, files }: { readonly baseUrl: string; readonly files: string }): Promise<void> {
  const { createDevice } = (await import(`${files}device.js`)) as typeof import('../../sdk/device.ts');
  const { createBrowserVault, indexedDbStore } = (await import(`${files}browser.js`)) as BrowserEntry;
  const shared = globalThis as unknown as { saveCredentials: () => Promise<void>; device: Device; offsetMs: number };
  const vault = createBrowserVault({ site: 'Conformance', person: 'Conformance' });
  const create: typeof vault.create = async (purpose) => {
    const key = await vault.create(purpose);
    await shared.saveCredentials();
    return key;
  };
  shared.offsetMs = 0;
  shared.device = createDevice({
    baseUrl: issuer,
    store: indexedDbStore('conformance'),
    vault: { ...vault, create },
    now: () => Date.now() + shared.offsetMs,
    pause: (milliseconds) => new Promise((done) => setTimeout(done, milliseconds / 10)),
  });
}

/** The SDK's device in the page, as if it were here. */
const device = new Proxy({} as Device, {
  get:
    (_none, method: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const { value, thrown } = await page.evaluate(
        async ([name, given]) => {
          const { device: there } = globalThis as unknown as {
            device: Readonly<Record<string, (...all: readonly unknown[]) => Promise<unknown>>>;
          };
          try {
            return { value: await there[name]!(...given), thrown: undefined };
          } catch (error) {
            const { name: kind, message, status, body } = error as Thrown;
            return { value: undefined, thrown: { name: kind, message, status, body } };
          }
        },
        [method, args] as const,
      );
      if (thrown?.name === 'DeviceError') throw new DeviceError(thrown.status, thrown.body);
      if (thrown?.name === 'NoAnswerError') throw new NoAnswerError(thrown.message);
      if (thrown !== undefined) throw new Error(thrown.message);
      return value;
    },
});

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command; // of the conformance runner
  const { id } = command;
  if (command.do === 'clock')
    await page.evaluate((offset) => Object.assign(globalThis, { offsetMs: offset }), Number(command['offset_ms']));
  const answer =
    command.do === 'clock' ? { id, ok: true, value: null } : await answerCommand(device, { platform: 'web', name: 'Conformance' }, command);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0); // Chromium ends with its pipe
