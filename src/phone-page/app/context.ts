// What every screen works with: the page's facts, this browser's store, the persons enrolled in it.
import { createBrowserVault, indexedDbStore } from '../../../sdk/browser.ts';
import { createDevice, type Device, listAccounts, type PhoneState } from '../../../sdk/device.ts';
import type { Account } from '../../../sdk/state.ts';
import { found } from './dom.ts';
import { type Texts, textsOf } from './texts.ts';

const page = document.documentElement;
const root = found<HTMLElement>(document, '#app');

export const baseUrl = root.dataset['baseUrl'] ?? '';
export const tenantName = root.dataset['tenant'] ?? '';
export const texts: Texts = textsOf(page.lang);

const store = indexedDbStore<PhoneState>('phone');
const vault = createBrowserVault({ site: tenantName, person: tenantName });
let chosen: string | undefined;

/** The phone of the chosen person, else of the one enrolled last. */
export function phone(): Device {
  return createDevice({ baseUrl, store, vault, ...(chosen === undefined ? {} : { account: chosen }) });
}

export function choose(deviceId: string | undefined): void {
  chosen = deviceId;
}

/** The persons of this tenant in this browser, oldest first. */
export async function persons(): Promise<readonly Account[]> {
  return (await listAccounts(store)).filter((account) => account.baseUrl === baseUrl);
}

/** How a person is called on the screen. */
export function nameOf(account: Account): string {
  const user = (account.user ?? {}) as Readonly<Record<string, string | null | undefined>>; // what the enrolment answered
  const full = [user['given_name'], user['family_name']].filter((part) => part).join(' ');
  return user['display_name'] ?? (full === '' ? (user['email'] ?? user['user_name'] ?? '') : full);
}

/** Shows one screen and moves the reader's focus to it. */
export function show(...children: readonly (Node | string)[]): void {
  root.replaceChildren(...children);
}

/** A line the reader is told at once. */
export function say(text: string): void {
  found(document, '#said').textContent = text;
}
