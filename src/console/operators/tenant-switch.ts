// The tenant switcher in the header of operators at home, and the banner of one who entered a tenant. Both are plain forms.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { readStyleFile } from '../../platform/style-file.ts';
import { consolePath } from '../frame/navigation.ts';

/** Rules of both, for the pages that have one of them. */
export const operatorStyle = readStyleFile(new URL('./operator-style.css', import.meta.url));

/** The first tenants by slug, and whether there are more. */
export interface TenantChoices {
  readonly tenants: readonly { readonly id: string; readonly name: string }[];
  readonly isMore: boolean;
}

interface SwitchFrame {
  readonly tenant: Tenant;
  readonly person: string | undefined;
  readonly csrf: string;
  readonly choices?: TenantChoices | undefined;
}

/** Opens a list of tenants to enter. */
export function tenantSwitch({ tenant, csrf, choices }: SwitchFrame): Html | undefined {
  if (choices === undefined) return undefined;
  const { tenants, isMore } = choices;
  return html`<details class="switch"><summary id="switch">Switch tenant</summary><div>${
    tenants.length === 0
      ? html`<p class="muted">There is no other tenant to enter.</p>`
      : html`<ul>${tenants.map(
          ({ id, name }) =>
            html`<li><form method="post" action="${consolePath(tenant, `/tenants/${id}/enter`)}">${csrfField({ csrf })}<button class="quiet"><span class="hidden">Enter </span>${name}</button></form></li>`,
        )}</ul>`
  }<a href="${consolePath(tenant, '/tenants')}">${isMore ? 'All tenants' : 'Manage tenants'}</a></div></details>`;
}

/** Says in whose console an operator is, with the way out. */
export const operatorBanner = ({ tenant, person, csrf }: SwitchFrame): Html =>
  html`<div class="operator" role="region" aria-label="Operator"><p>You are in <b>${tenant.name}</b> as an operator, ${person}. What you do is recorded in its events.</p><form method="post" action="${consolePath(tenant, '/sign-out')}">${csrfField({ csrf })}<button class="small" id="leave">Leave ${tenant.name}</button></form></div>`;
