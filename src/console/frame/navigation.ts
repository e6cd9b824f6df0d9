// Where everything in the console is: one row a page, in the groups of the navigation; a new page is one row here. Gives the
// navigation, which on a phone is a menu behind a link, and the way back from a page below another.
import { rootTenantSlug, type Tenant } from '../../domain/tenant/tenant.ts';
import { consoleApp } from '../../first-party/console-client.ts';
import { appPath } from '../../first-party/first-party-app.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { type Allowed, maySee } from './allowed.ts';

interface ConsolePage {
  /** Heading in the navigation; the pages of a group follow one another. */
  readonly group: string;
  /** Below /console; pages below it belong to it. */
  readonly path: string;
  readonly name: string;
  /** What is drawn in the 24 by 24 square before the name. */
  readonly icon: string;
  /** Of the deployment: in the root tenant alone. */
  readonly isRootOnly?: true;
}

// biome-ignore format: a table, one page a line
const pages: readonly ConsolePage[] = [
  { group: '', path: '', name: 'Overview', icon: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z' },
  { group: 'Applications', path: '/clients', name: 'Applications', icon: 'M4 5h16v14H4zM4 9h16M7 7h.01' },
  { group: 'Applications', path: '/service-providers', name: 'SAML applications', icon: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4' },
  { group: 'Applications', path: '/resources', name: 'APIs', icon: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14' },
  { group: 'People', path: '/users', name: 'People', icon: 'M12 12a4 4 0 100-8 4 4 0 000 8zM4.5 20c.8-4 3.8-6 7.5-6s6.7 2 7.5 6' },
  { group: 'People', path: '/groups', name: 'Groups', icon: 'M9 11a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM2.5 19c.6-3.4 3.1-5 6.5-5s5.9 1.6 6.5 5M16 4.500a3.5 3.5 0 010 6.500M18 14.500c2 .6 3.2 2.1 3.5 4.5' },
  { group: 'People', path: '/organizations', name: 'Organisations', icon: 'M3 21h18M5 21V4h9v17M14 9h5v12M8 8h.01M11 8h.01M8 12h.01M11 12h.01M8 16h.01M11 16h.01' },
  { group: 'People', path: '/scim', name: 'Directories', icon: 'M4 12a8 8 0 0113.7-5.600L20 9M20 4v5h-5M20 12a8 8 0 01-13.7 5.600L4 15M4 20v-5h5' },
  { group: 'People', path: '/connectors', name: 'Connectors', icon: 'M9 3v5M15 3v5M6 8h12v4a6 6 0 01-12 0zM12 18v3' },
  { group: 'People', path: '/directories', name: 'LDAP directories', icon: 'M5 4h14v16H5zM9 4v16M12 9h4M12 13h4M3 8h2M3 12h2M3 16h2' },
  { group: 'People', path: '/administrators', name: 'Administrators', icon: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM12 8v4M12 15h.01' },
  { group: 'Sign-in', path: '/identity-providers', name: 'Other providers', icon: 'M14 4h6v16h-6M4 12h11M11 8l4 4-4 4' },
  { group: 'Sign-in', path: '/branding', name: 'Branding', icon: 'M12 3a9 9 0 100 18c1.500 0 2-1 1.500-2-.5-1.500.5-3 2-3H18a3 3 0 003-3c0-5.500-4-10-9-10zM7.500 11h.01M10 7h.01M15 7.500h.01' },
  { group: 'Sign-in', path: '/languages', name: 'Languages', icon: 'M4 6h9M8.500 4v2M11 6c-1 4-3.500 6.500-7 8M6 9c1 2.500 3 4 6 5M13 20l4-9 4 9M14.500 17h5' },
  { group: 'Sign-in', path: '/mail', name: 'Mail', icon: 'M3 6h18v12H3zM3 7l9 7 9-7' },
  { group: 'Sign-in', path: '/domain', name: 'Domain', icon: 'M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18' },
  { group: 'Sign-in', path: '/push', name: 'Push notifications', icon: 'M6 16V11a6 6 0 0112 0v5l2 2H4zM10 21h4' },
  { group: 'Activity', path: '/sign-ins', name: 'Find a sign-in', icon: 'M10 4h9v16h-9M4 12h9M9 8l4 4-4 4' },
  { group: 'Activity', path: '/events', name: 'Events', icon: 'M4 6h16M4 12h16M4 18h10' },
  { group: 'Activity', path: '/explain', name: 'Explain', icon: 'M11 18a7 7 0 100-14 7 7 0 000 14zM16 16l4.5 4.5' },
  { group: 'Activity', path: '/webhooks', name: 'Webhooks', icon: 'M4 20l7-7M14 4l6 6-4 1-3 3-1 4-6-6 4-1 3-3z' },
  { group: 'Activity', path: '/security-events', name: 'Security events', icon: 'M3 12h4l3-8 4 16 3-8h4' },
  { group: 'Settings', path: '/settings/tokens', name: 'Tokens', icon: 'M4 8h16v8H4zM15 8v8M8 12h3' },
  { group: 'Settings', path: '/settings', name: 'Security & limits', icon: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4' },
  { group: 'Settings', path: '/custom-attributes', name: 'Attributes', icon: 'M4 4h8l8 8-8 8-8-8zM8 8h.01' },
  { group: 'Settings', path: '/mappings', name: 'Claims & attributes', icon: 'M4 6h6M4 18h6M14 6h6M14 18h6M10 6c4 0 0 12 4 12' },
  { group: 'Settings', path: '/hooks', name: 'Hooks', icon: 'M12 4v9a4 4 0 11-8 0v-2M12 4a2 2 0 104 0 2 2 0 00-4 0M2 13l2-2 2 2' },
  { group: 'Settings', path: '/signing-keys', name: 'Signing keys', icon: 'M8 19a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM11.5 11.500l8-8M16 7l3 3' },
  { group: 'Deployment', path: '/tenants', name: 'Tenants', icon: 'M4 20V8l8-4 8 4v12zM9 20v-5h6v5M9 10h.01M15 10h.01', isRootOnly: true },
];

/** Pages that are reached from another, and stand below it. */
const below: Readonly<Record<string, string>> = {
  '/client-hosts': '/clients',
  '/initial-access-tokens': '/clients',
  '/workload-issuers': '/clients',
  '/organization-roles': '/organizations',
  '/roles': '/administrators',
};

/** The root tenant's administrators are the operators: they manage tenants too. */
export const isOperatorTenant = (tenant: Tenant): boolean => tenant.slug === rootTenantSlug;

/** Path of a console page as the browser asks for it. */
export const consolePath = (tenant: Tenant, path: string): string => appPath(consoleApp, tenant, path);

const pagesOf = (tenant: Tenant): readonly ConsolePage[] =>
  pages.filter(({ isRootOnly }) => isRootOnly !== true || isOperatorTenant(tenant));

const holds = (path: string, at: string): boolean => at === path || (path !== '' && at.startsWith(`${path}/`));

/** The page of the navigation that a path is, or stands below. */
function pageOf(tenant: Tenant, at: string): ConsolePage | undefined {
  const parent = Object.keys(below).find((path) => holds(path, at));
  return pagesOf(tenant).find(({ path }) => holds(path, parent === undefined ? at : below[parent]!));
}

/** The navigation, of what the person may see; `at` is the path that is open. */
export function navigation(tenant: Tenant, at: string, whose: Allowed | undefined): Html {
  const here = pageOf(tenant, at);
  const link = (page: ConsolePage): Html =>
    html`<li><a href="${consolePath(tenant, page.path)}"${page === here && html` aria-current="${page.path === at ? 'page' : 'true'}"`}>${iconOf(page)}${page.name}</a></li>`;
  const groups = [
    ...Map.groupBy(
      pagesOf(tenant).filter(({ path }) => whose === undefined || maySee(whose, path)),
      ({ group }) => group,
    ),
  ];
  return html`<nav id="menu" aria-label="Console"><a class="close button quiet" href="#content">Close menu</a>${groups.map(
    ([group, own]) =>
      group === ''
        ? html`<ul>${own.map(link)}</ul>`
        : html`<p class="group" id="group-${group.toLowerCase()}">${group}</p><ul aria-labelledby="group-${group.toLowerCase()}">${own.map(link)}</ul>`,
  )}</nav>`;
}

/** What leads back from a page that stands below one of the navigation. */
export function crumbs(tenant: Tenant, at: string): Html | undefined {
  const page = pageOf(tenant, at);
  if (page === undefined || page.path === at) return undefined;
  return html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${consolePath(tenant, '')}">Overview</a> <span aria-hidden="true">›</span> <a href="${consolePath(tenant, page.path)}">${page.name}</a></nav>`;
}

/** What is searched from the header, each by its own capability. */
const searchedPaths = ['/users', '/groups', '/clients', '/service-providers'] as const;

/** What stands in the header: the menu on phones, the search of what the person may see, and the documents. */
export const tools = (tenant: Tenant, whose: Allowed | undefined): Html =>
  html`${whose !== undefined && searchedPaths.some((path) => maySee(whose, path)) && html`<form class="find" method="get" action="${consolePath(tenant, '/search')}" role="search" aria-label="People and applications"><label class="hidden" for="q">Find people and applications</label><input type="search" id="q" name="q" placeholder="Find people and applications" maxlength="200"><button class="quiet" id="find-any">Find</button></form>`}<a class="button quiet menu" href="#menu">Menu</a><a class="docs" href="/docs">Docs</a>`;

const iconOf = ({ icon }: ConsolePage): Html => trusted(`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${icon}"/></svg>`);
