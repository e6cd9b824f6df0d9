// The pages of organisations and of the roles in them.
import { kinds } from '../../domain/kinds.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { code, created, enabled, lastSignIn, text } from '../cells.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { maySee, mayView } from '../frame/allowed.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import { consolePath } from '../frame/navigation.ts';
import type { ConsoleResource } from '../frame/resource.ts';
import { checkDomains, domainProofs } from './domain-proofs.ts';

type Json = Readonly<Record<string, unknown>>;

const providersOf = (json: Json): readonly string[] => json['identity_providers'] as readonly string[]; // the API's shape

export const organizations: ConsoleResource = {
  ...pagesOfKind(kinds.organization),
  holds: '/members',
  titleOf: (json) => text(json['display_name'] ?? json['name']),
  columns: [
    ['Name in requests', (json) => text(json['name'])],
    ['Members', (json) => text(json['members'])],
    ['Providers', (json) => providersOf(json).join(', ')],
    lastSignIn,
    ['State', enabled],
    created,
  ],
  links: [['/organization-roles', 'Roles']],
  firstTab: 'Overview',
  formTabs: [
    ['/provider', 'Provider'],
    ['/domains', 'Domains'],
    ['/sign-in', 'Sign-in'],
  ],
  tabs: [
    ['/members', 'Members'],
    ['/invitations', 'Invitations'],
    ['/directory', 'SCIM'],
    ['/setup-links', 'Set up'],
    ['/activity', 'Activity'],
  ],
  facts: [['Members', (json) => text(json['members'])], lastSignIn, created],
  besideForm: { '': viewLink, '/provider': providerList, '/domains': domainList },
  actions: [{ ...checkDomains, tab: '/domains' }],
};

/** What whoever manages it sees: manager-view.ts. */
function viewLink(visit: Visit, json: Json): Html | undefined {
  if (json['enabled'] !== true || !mayView(visit)) return undefined;
  const at = consolePath(visit.request.tenant, `/organizations/${encodeURIComponent(text(json['id']))}/view`);
  return html`<p><a class="button quiet" id="view-as" href="${at}">View as a manager</a></p>`;
}

/** The providers it names, as they are now. */
async function providerList(visit: Visit, json: Json): Promise<Html> {
  const { tenant } = visit.request;
  const aliases = providersOf(json);
  const hint = html`<p class="muted">Its IT connects one by a link from <a href="${consolePath(tenant, `/organizations/${encodeURIComponent(text(json['id']))}/setup-links`)}">Set up</a>.</p>`;
  if (aliases.length === 0 || !maySee(visit, '/identity-providers')) return hint;
  const rows = await Promise.all(
    aliases.map(async (alias) => {
      const found = await manage(visit, 'GET', `/identity-providers?${new URLSearchParams({ search: alias, limit: '200' })}`);
      const one = itemsOf(found).find((provider) => provider['alias'] === alias);
      if (one === undefined) return [code(alias), 'There is none of that alias.', ''];
      const at = consolePath(tenant, `/identity-providers/${encodeURIComponent(text(one['id']))}`);
      return [
        html`<a class="strong" href="${at}">${text(one['name'])}</a>`,
        text(one['issuer'] ?? one['entity_id'] ?? one['kind']),
        enabled(one),
      ];
    }),
  );
  return html`${table('Its providers', ['Name', 'Issuer', 'State'], rows)}${hint}`;
}

function domainList(_visit: Visit, json: Json): Html {
  return html`<section class="panel" id="proofs" aria-label="Proof of its domains"><h2>Proof of its domains</h2><div>${domainProofs(json)}</div></section>`;
}

export const organizationRoles: ConsoleResource = {
  ...pagesOfKind(kinds.organization_role),
  columns: [
    ['Description', (json) => text(json['description'] ?? '')],
    ['Scopes', (json) => (json['scopes'] as readonly string[]).join(', ')], // the API's shape
    ['Manages the organisation', (json) => (json['manage'] === true ? 'yes' : '')],
  ],
};
