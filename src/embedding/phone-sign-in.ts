// Signs a person in as a browser and a phone of theirs would, over HTTP alone: there is no way into the server that a person has not.
import { createDevice, type Device, memoryStore, type PhoneState, parseEnrollmentLink, type StateStore } from '../../sdk/device.ts';
import { createSoftwareVault } from '../../sdk/node.ts';
import { phoneMethod } from '../domain/sign-in/login-methods.ts';

type KeyStore = StateStore<Readonly<Record<string, string>>>;

/** A phone enrolled by a link, or the one the stores hold already. */
export async function openTestPhone(
  baseUrl: string,
  enrollmentLink: () => Promise<string>,
  { store, keys }: { readonly store: StateStore<PhoneState>; readonly keys: KeyStore } = { store: memoryStore(), keys: memoryStore() },
): Promise<Device> {
  const device = createDevice({ baseUrl, store, vault: createSoftwareVault(keys) });
  if ((await device.state()).status === 'enrolled') return device;
  const link = parseEnrollmentLink(await enrollmentLink());
  if (link === undefined) throw new Error('expected an enrolment link, found something else');
  await device.redeemEnrollment(link.token, { platform: 'other', name: 'Simulated phone' });
  const { status } = await device.enroll();
  if (status !== 'enrolled') throw new Error('expected the phone to be enrolled, found that another device has to let it in');
  return device;
}

interface Step {
  readonly state: string;
  readonly redirect_to?: string;
}

/**
 * Opens the authorization URL as a browser, names the person, scans the page's code with the phone, which tells this sign-in from others of
 * the person, approves and gives the URL the browser is sent to: the application's callback with a code, or with an error.
 */
export async function signInByPhone(device: Device, identifier: string, authorizeUrl: string): Promise<string> {
  const opened = await fetch(authorizeUrl, { redirect: 'manual' });
  const location = opened.headers.get('location');
  if (location === null) throw new Error(`expected a redirect to the sign-in, found ${opened.status}: ${await opened.text()}`);
  const { pathname } = new URL(location);
  if (!/\/login\/[^/]+$/.test(pathname)) return location;
  const cookie = opened.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ');
  const step = async (name: string, fields: Readonly<Record<string, string>> = {}): Promise<Step> => {
    const response = await fetch(`${location}/${name}`, {
      method: 'POST',
      headers: { cookie, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: expected the next step of the sign-in, found ${response.status}: ${text}`);
    return JSON.parse(text) as Step; // the sign-in's own answer
  };
  const identified = await step('identify', { identifier });
  const waiting = identified.state === 'choose' ? await step('method', { method: phoneMethod }) : identified;
  if (waiting.state !== 'waiting') throw new Error(`expected a sign-in that waits for the phone, found one at ${waiting.state}`);
  const shown = await fetch(`${location}/qr`, { headers: { cookie } });
  if (!shown.ok) throw new Error(`qr: expected the code of the sign-in, found ${shown.status}: ${await shown.text()}`);
  const { qr_uri: code } = (await shown.json()) as { readonly qr_uri: string };
  await device.approve(await device.claim(code, { scanned: true })); // it sees the code on the page, as a camera does
  return (await step('finish')).redirect_to ?? '';
}
