// The administrator of a first start: opens the printed link, enrols the simulator's phone by the command the page shows, and signs in to
// the console by the number it shows.
import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { capabilities } from '../src/domain/people/capabilities.ts';
import { type Administrator, administratorOf, type Json } from './administrator.ts';
import type { Started } from './newcomer.ts';
import { openWalker, type SignedIn } from './walker.ts';

const email = 'grace@example.com';
/** A token of the Management API lives longer than this, however the settings are changed. */
const tokenMs = 60_000;

type Command = (...args: readonly string[]) => string;

export async function startAsAdministrator(browser: Browser, { folder, said }: Started): Promise<Administrator> {
  const gatehouse: Command = (...args) => execFileSync('./bin/gatehouse', args, { cwd: folder, encoding: 'utf8' });
  const link = /^Administrator .* (http\S+)$/m.exec(said())![1]!;
  const { origin } = new URL(link);
  const signedIn = await setUp(browser, gatehouse, link);
  return administratorOf(browser, { baseUrl: origin, signedIn, folder, call: callerOf(origin, gatehouse) });
}

async function setUp(browser: Browser, gatehouse: Command, link: string): Promise<SignedIn> {
  const { page, type, press, enter, sees, close } = await openWalker(browser, 'mouse');
  await page.goto(link);
  await type(/email/i, email);
  await press('Continue');
  const [, enrolment] = /phone enrol --link '(\S+)'/.exec(await page.innerText('main'))!;
  gatehouse('phone', 'enrol', '--link', enrolment!);
  await sees('Phone added');
  await press('Open the console');
  await type(/email/i, email);
  await enter();
  await press(/phone/i);
  await sees(/\bgatehouse phone approve|number/i);
  const number = /^\s*(\d{2})\s*$/m.exec(await page.innerText('main'))![1]!;
  gatehouse('phone', 'approve', '--number', number);
  await page.waitForURL('**/console');
  const signedIn = await page.context().storageState();
  await close();
  return signedIn;
}

/** Calls of the Management API by a machine of the administrator's, made by the command line. */
function callerOf(origin: string, gatehouse: Command): Administrator['call'] {
  const machine = {
    name: 'What happens beside the pages',
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials'],
    scopes: capabilities,
  };
  const { client_id: id, client_secret: secret } = JSON.parse(
    gatehouse('api', 'POST', '/clients', '--body', JSON.stringify(machine)),
  ) as Json;
  const authorization = `Basic ${Buffer.from(`${String(id)}:${String(secret)}`).toString('base64')}`;
  let last = { token: '', untilMs: 0 };
  const bearer = async (): Promise<string> => {
    if (performance.now() < last.untilMs) return last.token;
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const answer = await fetch(`${origin}/v1/idp/oidc/token`, { method: 'POST', headers: { authorization }, body });
    const { access_token: token } = (await answer.json()) as Json;
    last = { token: String(token), untilMs: performance.now() + tokenMs };
    return last.token;
  };
  return async (method, path, body) => {
    const answer = await fetch(`${origin}/v1/management${path}`, {
      method,
      headers: { authorization: `Bearer ${await bearer()}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Json);
  };
}
