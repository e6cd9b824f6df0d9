// The administrator of a first start: opens the printed link, enrols the simulator's phone by the command the page shows, and
// signs in to the console by the number it shows. What a task needs beforehand is made by the command line.
import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import type { Started } from './newcomer.ts';
import { openWalker, type SignedIn } from './walker.ts';

export interface Administrator {
  readonly console: string;
  readonly signedIn: SignedIn;
  /** Where the repository was cloned to. */
  readonly folder: string;
  /** A call of the Management API in the root tenant by `gatehouse api`; gives its answer. */
  readonly call: (method: string, path: string, body?: object) => void;
  /** The link of an invitation in the newest mail to that address. */
  readonly mailedLink: (email: string) => string;
  /** Has a request refused, and gives the id that its answer carries. */
  readonly refusedRequest: () => string;
}

const email = 'grace@example.com';

export async function signInAdministrator(browser: Browser, { folder, said }: Started): Promise<Administrator> {
  const gatehouse = (...args: readonly string[]): string => execFileSync('./bin/gatehouse', args, { cwd: folder, encoding: 'utf8' });
  const link = /^Administrator .* (http\S+)$/m.exec(said())![1]!;
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
  return {
    console: new URL('/console', link).href,
    signedIn,
    folder,
    call: (method, path, body) => void gatehouse('api', method, path, ...(body === undefined ? [] : ['--body', JSON.stringify(body)])),
    mailedLink: (email) => {
      const mails = execFileSync('curl', ['-sS', new URL('/dev/mail', link).href], { encoding: 'utf8' });
      const [, mail = ''] = mails.split(`<dd>${email}</dd>`, 2);
      const [, address] = /href="([^"]+\/welcome#[^"]+)"/.exec(mail) ?? [];
      if (address === undefined) throw new Error(`expected a mail with an invitation to ${email}, found none`);
      return address;
    },
    refusedRequest: () => {
      const answer = execFileSync('curl', ['-sSi', '-d', 'grant_type=client_credentials', new URL('/v1/idp/oidc/token', link).href], {
        encoding: 'utf8',
      });
      return /^x-request-id: (\S+)/im.exec(answer)![1]!;
    },
  };
}
