// What the person at the console may do: the capabilities that their roles and this session allow now. Pages leave out what would be
// refused; whether something is refused the Management API decides alone.
import { pathOfKind } from '../../domain/kind.ts';
import { allKinds } from '../../domain/kinds.ts';
import { powerOfSetup } from '../../domain/organizations/organization-role.ts';
import type { Capability } from '../../domain/people/capabilities.ts';

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
  '/settings/tokens': 'settings',
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
  if (path.startsWith('/settings') && allowed.has(`sign-in:${what}`)) return true; // some of them
  return thing === undefined || allowed.has(`${thing}:${what}`);
};

export const maySee = (whose: Allowed, path: string): boolean => mayDoOf(whose, path, 'read');
export const mayChange = (whose: Allowed, path: string): boolean => mayDoOf(whose, path, 'write');
export const mayGrant = ({ allowed }: Allowed): boolean => allowed.has('administrators:write');

/** What whoever manages an organisation is shown of it, by what reads it. */
export const shownToManagers = [
  'organizations:read',
  'users:read',
  'invitations:read',
  'events:read',
  'sign-in:read',
  'scim:read',
] as const satisfies readonly Capability[];
export const mayView = ({ allowed }: Allowed): boolean => shownToManagers.every((capability) => allowed.has(capability));

/** What a page of an organisation takes beside what changes one. */
function takenBeside(below: string, isNew: boolean, verb: string): readonly string[] {
  if (below === 'invitations') return verb === 'withdraw' ? ['invitations:write'] : ['users:write', 'invitations:write'];
  if (below === 'setup-links') return isNew ? powerOfSetup : [];
  return below === 'provider' || below === 'sign-in' ? ['sign-in:write'] : [];
}

/** Whether the person may post to a path below /console: what leaves buttons and forms out that would be refused. */
export function mayPost(whose: Allowed, path: string): boolean {
  const { allowed } = whose;
  const [first = '', , below = '', act = '', verb = ''] = path.split(/[?#]/, 1)[0]!.slice(1).split('/');
  if (first === 'mappings') return allowed.has('settings:write') || allowed.has('sign-in:write');
  if (first === 'mail' && /\/server\b/.test(path)) return allowed.has('sign-in:write');
  if (first === 'service-providers' && act === 'rotate') return allowed.has('signing-keys:write');
  if (first === 'directories' && (below === 'plan' || below === 'test')) return maySee(whose, '/directories');
  if (first === 'organizations')
    return mayChange(whose, '/organizations') && takenBeside(below, act === '', verb).every((one) => allowed.has(one));
  if (first !== 'users') return mayChange(whose, `/${first}`);
  if (below === 'recoveries') return allowed.has('users:recover');
  if (below === 'roles') return mayGrant(whose);
  if (below === 'enrollments') return mayChange(whose, '/devices');
  return mayChange(whose, Object.hasOwn(things, `/${below}`) ? `/${below}` : '/users');
}
