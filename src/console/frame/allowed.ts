// What the person at the console may do: the capabilities that their roles and this session allow now. Pages leave out what would be
// refused; whether something is refused the Management API decides alone.
import { pathOfKind } from '../../domain/kind.ts';
import { allKinds } from '../../domain/kinds.ts';

/** Of whose capabilities a page below /console, or a tab of a person, is: `<thing>:read` shows it, `<thing>:write` changes what it shows. */
const things: Readonly<Record<string, string>> = {
  '/clients': 'clients',
  '/client-hosts': 'clients',
  '/initial-access-tokens': 'clients',
  '/service-providers': 'service-providers',
  '/users': 'users',
  '/groups': 'groups',
  '/scim': 'clients',
  '/administrators': 'administrators',
  '/branding': 'branding',
  '/languages': 'branding',
  '/mail': 'mail',
  '/domain': 'domain',
  '/push': 'devices',
  '/events': 'events',
  '/sign-ins': 'events',
  '/security-events': 'clients',
  '/explain': 'events',
  '/activity': 'events',
  '/settings': 'settings',
  '/mappings': 'settings',
  '/mail-server': 'sign-in',
  '/signing-keys': 'signing-keys',
  '/tenants': 'tenants',
  '/invitations': 'invitations',
  '/devices': 'devices',
  '/passkeys': 'devices',
  '/recoveries': 'devices',
  '/known-secrets': 'clients',
  ...Object.fromEntries(allKinds.map((kind) => [pathOfKind(kind), kind.power.read.replace(/:read$/, '')])),
};

export interface Allowed {
  readonly allowed: ReadonlySet<string>;
}

const mayDoOf = ({ allowed }: Allowed, path: string, what: 'read' | 'write'): boolean => {
  const thing = things[path];
  if (path === '/settings' && allowed.has(`sign-in:${what}`)) return true; // some of them
  return thing === undefined || allowed.has(`${thing}:${what}`);
};

export const maySee = (whose: Allowed, path: string): boolean => mayDoOf(whose, path, 'read');
export const mayChange = (whose: Allowed, path: string): boolean => mayDoOf(whose, path, 'write');
export const mayGrant = ({ allowed }: Allowed): boolean => allowed.has('administrators:write');
