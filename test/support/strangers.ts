// Browsers from many addresses that ask something of one person, known or not: for tests of what strangers may ask (design 21, 1).
import assert from 'node:assert/strict';
import { nearFailuresPerHourMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { TestClient, TestUser } from './fixtures.ts';
import { beginLogin, type TestLogin } from './login.ts';
import { mailsTo, otherPin, pinOf } from './mailbox.ts';
import { roomyRate } from './roomy-rate.ts';
import type { TestServer } from './server.ts';

export const ofAddresses = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate, registration_starts_per_ip: roomyRate };
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** What a browser is: where it comes from, and what it is known by. */
export interface Browser {
  readonly address: string;
  readonly known?: string;
}

export const from = (host: number): Browser => ({ address: `203.0.113.${host}` });
export const stranger = from(1);

interface Environment {
  readonly server: TestServer;
  readonly tenant: Tenant;
  readonly client: TestClient;
  /** Of whom it is asked. */
  readonly user: TestUser;
}

/** What browsers do; the environment is read at each call. */
export function createStrangers(env: () => Environment) {
  const post = (login: TestLogin, browser: Browser, step: string, fields: object = {}): Promise<Response> =>
    login.post(
      step,
      { ...fields },
      {
        'x-forwarded-for': browser.address,
        cookie: browser.known === undefined ? login.cookie : `${login.cookie}; ${browser.known}`,
      },
    );
  const begin = async (browser: Browser, identifier = env().user.email): Promise<TestLogin> => {
    const login = await beginLogin(env().server, env().tenant, env().client);
    assert.equal((await post(login, browser, 'identify', { identifier })).status, 200);
    return login;
  };
  const ask = async (browser: Browser, method: 'phone' | 'email_pin'): Promise<{ login: TestLogin; answer: Response }> => {
    const login = await begin(browser);
    return { login, answer: await post(login, browser, 'method', { method }) };
  };
  const mailed = async (browser: Browser): Promise<TestLogin> => {
    const { login, answer } = await ask(browser, 'email_pin');
    assert.deepEqual(await answer.json(), { state: 'pin' });
    return login;
  };
  /** Signs in with a mailed code; gives the browser as it is known from then on. */
  const signIn = async (browser: Browser): Promise<Browser> => {
    const login = await mailed(browser);
    assert.equal((await post(login, browser, 'pin', { pin: await pinOf(env().server, env().user.email) })).status, 200);
    const finished = await post(login, browser, 'finish');
    assert.equal(finished.status, 200);
    const cookie = finished.headers.getSetCookie().find((line) => line.startsWith('gh-known-'));
    return { ...browser, known: cookie?.split(';', 1)[0] ?? '' };
  };
  const herOwn = () => signIn(from(200));
  const guess = async (login: TestLogin, browser: Browser): Promise<Response> =>
    post(login, browser, 'pin', { pin: otherPin(await pinOf(env().server, env().user.email)) });
  /** Wrong codes from one address, as many as it may type in an hour, and the rest of the hour. */
  const guessAnHour = async (browser: Browser): Promise<void> => {
    for (let count = 0; count < nearFailuresPerHourMax; ) {
      const login = await mailed(browser);
      for (let attempt = 0; attempt < 5 && count < nearFailuresPerHourMax; attempt += 1, count += 1)
        assert.ok([401, 403].includes((await guess(login, browser)).status));
      await env().server.clock.advance(minuteMs);
    }
  };
  const codes = async (): Promise<number> =>
    (await mailsTo(env().server, env().user.email)).filter(({ text }) => /^\d{6,10}$/m.test(text)).length;

  /** Another name of the person's. */
  const nameThem = async (userName: string): Promise<void> => {
    await env().server.gatehouse.services.database.write(env().tenant.id, (queries) =>
      queries
        .updateTable('users')
        .set({ user_name: userName, user_name_key: userName })
        .where('tenant_id', '=', env().tenant.id)
        .where('id', '=', env().user.id)
        .execute(),
    );
  };
  return { post, begin, ask, mailed, signIn, herOwn, guess, guessAnHour, codes, nameThem };
}
