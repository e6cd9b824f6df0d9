// The person of the demo at a browser: follows redirects with cookies and signs in over the JSON form of the sign-in pages,
// with the PIN of the mail or with the phone in the other hand.
import type { GatehouseProcess } from '../bench/process.ts';
import { call } from '../bench/tenant.ts';

export type Decide = (number: string) => Promise<void>;

export interface Browser {
  /** Follows a link until a page answers or a sign-in starts; signs in when one does. Gives where it ended. */
  readonly visit: (url: string) => Promise<{ readonly url: string; readonly body: string }>;
}

export interface PersonOptions {
  readonly gatehouse: GatehouseProcess;
  readonly email: string;
  /** Approves on the phone when given; else the PIN of the mail is typed. */
  readonly onPhone?: Decide;
}

const hopsMax = 12;

/** A browser with its own cookies. */
export function openBrowser(options: PersonOptions): Browser {
  const cookies = new Map<string, Map<string, string>>();
  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const jar = cookies.get(new URL(url).origin) ?? new Map<string, string>();
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: { cookie, ...(init.headers as Readonly<Record<string, string>>) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split('=', 2) as [string, string]; // a Set-Cookie line has both
      jar.set(name, value);
    }
    cookies.set(new URL(url).origin, jar);
    return response;
  };
  return {
    visit: async (start) => {
      let url = start;
      for (let hop = 0; hop < hopsMax; hop += 1) {
        if (/\/login\/[^/?]+$/.test(new URL(url).pathname)) url = await signIn(url, send, options);
        const json = url.includes('/saml/postback');
        const response = await send(url, json ? { headers: { accept: 'application/json' } } : {});
        const location = response.headers.get('location');
        if (location === null) return { url, body: await response.text() };
        url = new URL(location, url).href;
      }
      throw new Error(`more than ${hopsMax} redirects from ${start}`);
    },
  };
}

type Send = (url: string, init?: RequestInit) => Promise<Response>;

/** Goes through the steps of 04-login; gives where the finished sign-in leads. */
async function signIn(login: string, send: Send, { gatehouse, email, onPhone }: PersonOptions): Promise<string> {
  const step = async (name: string, fields: object = {}): Promise<Readonly<Record<string, unknown>>> => {
    const response = await send(`${login}/${name}`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name} answered ${response.status} ${text}`);
    return JSON.parse(text);
  };
  let answer = await step('identify', { identifier: email });
  if (answer['state'] === 'choose') answer = await step('method', { method: onPhone === undefined ? 'email_pin' : 'phone' });
  if (onPhone === undefined) await step('pin', { pin: await pinFromMail(gatehouse, email) });
  else await onPhone(String(answer['number']));
  return String((await step('finish'))['redirect_to']);
}

async function pinFromMail(gatehouse: GatehouseProcess, email: string): Promise<string> {
  const answer = await call(`${gatehouse.url}/v1/system/outbox?to=${encodeURIComponent(email)}`, gatehouse.operatorToken, 'GET');
  const { messages } = answer as { messages: readonly { text: string }[] };
  const pin = /\b\d{6}\b/.exec(messages.at(-1)?.text ?? '')?.[0];
  if (pin === undefined) throw new Error(`expected a PIN in a mail to ${email}, found none`);
  return pin;
}
