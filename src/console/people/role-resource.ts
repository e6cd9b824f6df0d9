// The pages of roles: those every tenant has are shown, its own are made and changed.
import { kinds } from '../../domain/kinds.ts';
import { capabilitiesIn, capabilityChoices } from '../../domain/people/capabilities.ts';
import { html } from '../../platform/html.ts';
import { text, worded } from '../cells.ts';
import { badge } from '../console-page.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import type { ConsoleResource } from '../frame/resource.ts';

export const roles: ConsoleResource = {
  ...pagesOfKind(kinds.role),
  columns: [
    ['Description', (json) => text(json['description'] ?? '')],
    ['Capabilities', (json) => String((json['capabilities'] as readonly string[]).length)], // the API's shape
    ['Of', (json) => badge(json['built_in'] === true ? 'every tenant' : 'this tenant', 'plain')],
  ],
  facts: [
    ['Description', (json) => text(json['description'] ?? '')],
    [
      'May',
      (json) => {
        const allowed = capabilitiesIn(json['capabilities'] as readonly string[]); // the API's shape
        return html`${allowed.map((one, at) => html`${at > 0 && ', '}${worded(one, capabilityChoices)}`)}`;
      },
    ],
  ],
};
