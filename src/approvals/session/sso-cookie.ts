// The cookie of a browser's single sign-on sessions (design 14, 1): one per tenant, 256 bits, hashed at rest. A fresh sign-in
// always gives it a new value.
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { SsoPolicy } from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { soleCookie } from '../../platform/cookies.ts';
import { randomSecret } from '../../platform/random.ts';

type CookieTenant = Pick<Tenant, 'baseUrl' | 'slug'>;

const isHttps = ({ baseUrl }: CookieTenant): boolean => baseUrl.startsWith('https:');

function cookieName(tenant: CookieTenant): string {
  return `${isHttps(tenant) ? '__Host-' : ''}gh-sso-${tenant.slug}`;
}

/** Hash of the cookie a browser sent; undefined for none or two. */
export function ssoBrowserHash(cookieHeader: string | undefined, tenant: CookieTenant): string | undefined {
  const value = soleCookie(cookieHeader, cookieName(tenant));
  return value === undefined || value === '' ? undefined : hashSecret(value);
}

/** A new value with its Set-Cookie line. */
export function makeSsoCookie(tenant: CookieTenant, policy: SsoPolicy): { readonly setCookie: string; readonly browserHash: string } {
  const value = randomSecret();
  const lifetime = policy.isPersistent ? `; Max-Age=${policy.absoluteSeconds}` : '';
  return { setCookie: `${cookieName(tenant)}=${value}; Path=/${lifetime}${attributes(tenant)}`, browserHash: hashSecret(value) };
}

/** The Set-Cookie line that takes the cookie away. */
export const dropSsoCookie = (tenant: CookieTenant): string => `${cookieName(tenant)}=; Path=/; Max-Age=0${attributes(tenant)}`;

const attributes = (tenant: CookieTenant): string => `; HttpOnly; SameSite=Lax${isHttps(tenant) ? '; Secure' : ''}`;
