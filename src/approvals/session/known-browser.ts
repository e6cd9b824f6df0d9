// The cookie of a browser in which somebody once signed in. It opens nothing: it only picks the budget of codes, pushes and wrong
// codes, so that strangers lock out strangers, and not the person. Says which mailboxes, without naming any.
import { createHmac } from 'node:crypto';
import { knownMailboxesMax } from '../../contract/limits.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { equalText } from '../../crypto/secret-hash.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { soleCookie } from '../../platform/cookies.ts';
import { randomId } from '../../platform/random.ts';
import type { ConfigCache } from '../../storage/engine/config/config-cache.ts';
import { loadTenantKey } from '../../tokens/tenant-secret.ts';
import { type Asker, ownAsker, strangerFrom } from '../asker.ts';

interface CookieDeps {
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
}

interface KnownBrowser {
  readonly id: string;
  readonly marks: readonly Mark[];
}

/** One mailbox this browser is known for, and since when. */
interface Mark {
  readonly day: number;
  readonly mac: string;
}

const dayMs = 86_400_000;
const knownDays = 180;

/** Who asks by this browser for the person of a mailbox. Load it before a transaction, so that the transaction waits for nothing else. */
export async function loadAskers(
  deps: CookieDeps,
  tenant: Tenant,
  cookies: string | undefined,
  addressBlock: string,
  nowMs: number,
): Promise<(mailKey: string) => Asker> {
  const key = await loadKey(deps, tenant);
  const browser = parse(soleCookie(cookies, nameOf(tenant)));
  const today = dayOf(nowMs);
  return (mailKey) => {
    const isKnown = browser?.marks.some((mark) => isFresh(mark, today) && isOf(key, browser.id, mailKey, mark)) === true;
    return isKnown ? ownAsker(`known:${browser.id}`) : strangerFrom(addressBlock);
  };
}

/** The whole Set-Cookie value after somebody of a mailbox signed in. */
export async function makeKnownCookie(
  deps: CookieDeps,
  tenant: Tenant,
  cookies: string | undefined,
  mailKey: string,
  nowMs: number,
): Promise<string> {
  const key = await loadKey(deps, tenant);
  const browser = parse(soleCookie(cookies, nameOf(tenant)));
  const id = browser?.id ?? randomId();
  const today = dayOf(nowMs);
  const others = (browser?.marks ?? []).filter((mark) => isFresh(mark, today) && !isOf(key, id, mailKey, mark));
  const marks = [{ day: today, mac: macOf(key, id, mailKey, today) }, ...others].slice(0, knownMailboxesMax);
  const value = [id, ...marks.map(({ day, mac }) => `${day.toString(36)}-${mac}`)].join('.');
  const secure = isHttps(tenant) ? '; Secure' : '';
  return `${nameOf(tenant)}=${value}; Path=/; Max-Age=${(knownDays * dayMs) / 1000}; HttpOnly; SameSite=Lax${secure}`;
}

const loadKey = ({ cache, encryption }: CookieDeps, tenant: Tenant): Promise<Buffer> =>
  loadTenantKey(cache, encryption, tenant.id, 'gatehouse known browser v1');

const isHttps = ({ baseUrl }: Tenant): boolean => baseUrl.startsWith('https:');
// Tenants that share a host share its cookies, so each has a name of its own.
const nameOf = (tenant: Tenant): string => `${isHttps(tenant) ? '__Host-' : ''}gh-known-${tenant.slug}`;
const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);
const isFresh = ({ day }: Mark, today: number): boolean => day <= today && today - day < knownDays;
const isOf = (key: Buffer, id: string, mailKey: string, { day, mac }: Mark): boolean => equalText(macOf(key, id, mailKey, day), mac);

/** 128 bits of HMAC-SHA-256. */
const macOf = (key: Buffer, id: string, mailKey: string, day: number): string =>
  createHmac('sha256', key).update(`${id}\0${day}\0${mailKey}`).digest().subarray(0, 16).toString('base64url');

const shape = /^[\w-]{22}(?:\.[0-9a-z]{1,6}-[\w-]{22})*$/;

function parse(value: string | undefined): KnownBrowser | undefined {
  if (value === undefined || !shape.test(value)) return undefined;
  const [id = '', ...marks] = value.split('.');
  const read = marks.slice(0, knownMailboxesMax).map((mark) => {
    const at = mark.indexOf('-');
    return { day: Number.parseInt(mark.slice(0, at), 36), mac: mark.slice(at + 1) };
  });
  return { id, marks: read };
}
