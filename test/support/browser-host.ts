// Chromium for drivers of `gatehouse phone conformance --driver` that run in a browser (browser-driver.ts): one browser for all rules, in it a
// context for each phone, which outlives its driver as a profile would: IndexedDB, keys and authenticator stay when the page is closed.
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Device, KeyVault, StateStore } from '../../sdk/device.ts';
import { launchChromium } from './chromium.ts';

/** sdk/browser.ts, whose types are those of a page. */
interface BrowserEntry {
  readonly createBrowserVault: (names: { readonly site: string; readonly person: string }) => KeyVault;
  readonly indexedDbStore: <Value>(name: string) => StateStore<Value>;
}

type Credential = Awaited<ReturnType<typeof credentialsOf>>[number];

interface Phone {
  readonly context: BrowserContext;
  credentials: readonly Credential[];
  page: Page;
}

/** What a driver asks for: a page for the phone of its folder, the time, or a call of the SDK. */
export type Ask =
  | { readonly do: 'open'; readonly folder: string; readonly baseUrl: string }
  | { readonly do: 'clock'; readonly folder: string; readonly offsetMs: number }
  | { readonly do: 'call'; readonly folder: string; readonly method: string; readonly args: readonly unknown[] };

/** What the SDK gave or threw. */
export interface Called {
  readonly value?: unknown;
  readonly thrown?: {
    readonly name: string;
    readonly message: string;
    readonly status: number;
    readonly body: Readonly<Record<string, unknown>>;
  };
}

/** Starts the browser; drivers POST what they ask for to `url`. */
export async function startBrowserHost(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const browser = await launchChromium();
  const phones = new Map<string, Phone>();
  const server = createServer((request, response) => {
    answer(browser, phones, request).then(
      (called) => response.end(JSON.stringify(called)),
      (error) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await browser.close();
    },
  };
}

async function answer(browser: Browser, phones: Map<string, Phone>, request: IncomingMessage): Promise<Called> {
  const ask = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Ask; // of our own driver
  if (ask.do === 'open') {
    await closeOld(phones);
    const known = phones.get(ask.folder);
    await known?.page.close(); // of a driver that was killed
    const context = known?.context ?? (await browser.newContext());
    const page = await context.newPage();
    const phone: Phone = { context, credentials: known?.credentials ?? [], page };
    phones.set(ask.folder, phone);
    await openPhone(phone, ask.baseUrl);
    return {};
  }
  const { page } = phones.get(ask.folder)!;
  if (ask.do === 'call') return page.evaluate(callDevice, [ask.method, ask.args] as const);
  await page.evaluate((offsetMs) => Object.assign(globalThis, { offsetMs }), ask.offsetMs);
  return {};
}

/** Phones whose rule is over: its folder is gone. */
async function closeOld(phones: Map<string, Phone>): Promise<void> {
  for (const [folder, { context }] of phones) {
    if (existsSync(folder)) continue;
    phones.delete(folder);
    await context.close();
  }
}

/** The device of the SDK in a page, with the keys its phone has. */
async function openPhone(phone: Phone, baseUrl: string): Promise<void> {
  const { context, page } = phone;
  const at = `${baseUrl}/conformance`;
  await page.route(at, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Conformance</title>' }));
  await page.goto(at);
  const session = await context.newCDPSession(page);
  const authenticatorId = await addAuthenticator(session, phone.credentials);
  await page.exposeFunction('saveCredentials', async () => {
    phone.credentials = await credentialsOf(session, authenticatorId);
  });
  const files = /\/phone\/app\/[\w-]+\//.exec(await (await fetch(`${baseUrl}/phone`)).text())?.[0] ?? '';
  await page.evaluate(startDevice, { baseUrl, files: `${baseUrl}${files}sdk/` });
}

const credentialsOf = async (session: CDPSession, authenticatorId: string) =>
  (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

async function addAuthenticator(session: CDPSession, credentials: readonly Credential[]): Promise<string> {
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
  for (const credential of credentials) await session.send('WebAuthn.addCredential', { authenticatorId, credential });
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

/** Runs in the page. */
async function callDevice([name, given]: readonly [string, readonly unknown[]]): Promise<Called> {
  const { device: there } = globalThis as unknown as { device: Readonly<Record<string, (...all: readonly unknown[]) => Promise<unknown>>> };
  try {
    return { value: await there[name]!(...given) };
  } catch (error) {
    const { name: kind, message, status, body } = error as Required<Called>['thrown'];
    return { thrown: { name: kind, message, status, body } };
  }
}
