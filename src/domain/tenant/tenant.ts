// A tenant as the rest of the house sees it: the table of its fields, its addresses and names. Pure.
import { nameCharsMax, urlCharsMax } from '../../contract/limits.ts';
import type { LoginTexts } from '../appearance/login-texts.ts';
import type { TenantHooks } from '../extending/hook.ts';
import { type ChangeOf, field, flag, text, type ValuesOf } from '../field.ts';
import type { TenantId } from '../ids.ts';
import type { Language } from '../language.ts';
import type { MappingTables } from '../mappings/rule.ts';
import type { TenantOrganizations } from '../organizations/tenant-organizations.ts';
import type { CustomAttribute } from '../people/custom-attributes.ts';
import type { Settings } from './settings.ts';

/** A slug is a DNS label, so that it can become a host name one day. */
const slug = { ...text(63), shape: { type: 'string', pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$' } };
const slugPattern = new RegExp(slug.shape.pattern);
/** An origin with its scheme, e.g. `https://login.acme.example`. */
const origin = { ...text(urlCharsMax), read: (given: unknown) => parseDomain(String(given)) ?? String(given) };

// biome-ignore format: a field a line or two
export const tenantFields = {
  slug: field('slug', slug, { required: true, write: 'create', label: 'Slug',
    help: 'Lower-case letters, digits and hyphens. Part of its base URL; it never changes.', check: slugFault }),
  name: field('name', text(nameCharsMax), { required: true, cli: 'name', label: 'Name', help: 'Shown to people when they sign in.' }),
  domain: field('domain', origin, { cli: 'domain', label: 'Custom domain',
    help: 'https://login.acme.example. It becomes the issuer. Empty: none.', check: domainFault }),
  enabled: field('enabled', { ...flag, input: 'none' }, { default: true, write: 'change', label: 'Served' }),
} as const;

export type TenantValues = ValuesOf<typeof tenantFields>;
export type TenantChange = ChangeOf<typeof tenantFields>;

export interface Tenant extends TenantValues {
  readonly id: TenantId;
  /** Issuer and base of every path, byte for byte (design 02). */
  readonly baseUrl: string;
  /** The audience of the management API and SCIM. */
  readonly managementApi: string;
  readonly settings: Settings;
  /** Whether its mails reach somebody: by its own server, by that of the deployment, or because a developer reads the outbox. */
  readonly canMail: boolean;
  /** The deployment is under test: limits by rate and budgets of people and addresses do not count. Attempts at one code do. */
  readonly areLimitsLifted: boolean;
  /** Closed, because it moves to another deployment: answers 503 and takes no write. */
  readonly isMoving: boolean;
  /** What the tenant adds to its people, in order of creation. */
  readonly customAttributes: readonly CustomAttribute[];
  /** What all its applications are told of people, beside what each lays over it. */
  readonly mappings: MappingTables;
  readonly organizations: TenantOrganizations;
  /** Whom it asks before tokens are issued and sign-ins end. */
  readonly hooks: TenantHooks;
  /** What it words itself of the sign-in, by language. */
  readonly texts: Readonly<Partial<Record<Language, LoginTexts>>>;
}

/** The issuer and the Management API are audiences of our own; a resource must not stand in for them. */
export const isOwnAudience = ({ baseUrl, managementApi }: Pick<Tenant, 'baseUrl' | 'managementApi'>, audience: string): boolean =>
  audience === baseUrl || audience === managementApi;

/** The slug of the tenant at the root of the public URL. */
export const rootTenantSlug = 'main';

/** Where the deployment keeps the hash of the system API's bearer token. */
export const operatorTokenKey = 'operator_token_hash';

/** Where the deployment keeps the public URL it was last served at, for commands beside it. */
export const publicUrlKey = 'public_url';

/** The origin of a custom domain, e.g. `https://login.acme.example`; a bare host is taken as https. Undefined when it is none. */
export function parseDomain(given: string): string | undefined {
  const url = URL.parse(/^[a-z]+:\/\//i.test(given) ? given : `https://${given}`);
  if (url === null || url.protocol !== 'https:' || url.hostname === '' || url.username !== '' || url.password !== '') return undefined;
  return url.pathname === '/' && url.search === '' && url.hash === '' && !given.endsWith('#') && !given.endsWith('?')
    ? url.origin
    : undefined;
}

/** True for a domain that is the host of the public URL, whatever the port: cookies and passkeys know hosts alone. */
export const isPublicHost = (domain: string, publicUrl: string): boolean =>
  URL.parse(parseDomain(domain) ?? '')?.hostname === new URL(publicUrl).hostname;

/** Whether a text could be a slug at all. */
export const isSlug = (text: string): boolean => slugPattern.test(text);

function slugFault(given: string): string | undefined {
  return isSlug(given) ? undefined : 'must be 1 to 63 of a-z, 0-9 and inner hyphens';
}

function domainFault(given: string): string | undefined {
  return parseDomain(given) === undefined ? 'must be an https origin such as https://login.acme.example' : undefined;
}

/** base_url of a tenant: its domain, else the public URL for the root tenant, else `<public-url>/t/<slug>`. */
export function baseUrlOf(publicUrl: string, slug: string, domain: string | null | undefined): string {
  if (domain) return domain;
  return slug === rootTenantSlug ? publicUrl : `${publicUrl}/t/${slug}`;
}
