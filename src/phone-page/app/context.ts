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
/** What standard scopes are called; others are shown as they are. */
export const scopesInWords = JSON.parse(root.dataset['scopes'] ?? '{}') as Readonly<Record<string, string>>; // as the page writes it

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

/** A moment as this phone's person reads it, with the day where it is not today's. */
export function timeOf(at: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(page.lang, { timeStyle: 'short' })
    : date.toLocaleString(page.lang, { dateStyle: 'medium', timeStyle: 'short' });
}

/** How a person is called on the screen. */
export function nameOf(account: Account): string {
  const user = (account.user ?? {}) as Readonly<Record<string, string | null | undefined>>; // what the enrolment answered
  const full = [user['given_name'], user['family_name']].filter((part) => part).join(' ');
  return user['display_name'] ?? (full === '' ? (user['email'] ?? user['user_name'] ?? '') : full);
}

/** Shows one screen and moves the reader's focus to it. */
export function show(...children: readonly (Node | string)[]): void {
  showRequestsAlone(false);
  root.replaceChildren(...children);
}

/** A screen of requests alone, or the home around their list. */
export function showRequestsAlone(areAlone: boolean): void {
  root.toggleAttribute('data-asked', areAlone);
}

/** A line the reader is told at once. */
export function say(text: string): void {
  const said = found<HTMLElement>(document, '#said');
  said.textContent = text;
  said.toggleAttribute('data-offline', text === texts.offline); // nothing is ready meanwhile
}
