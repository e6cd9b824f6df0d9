// Domains of a provider or an organisation on their pages: what to publish, whether it was seen, and the button that looks.
import { type Html, html } from '../../platform/html.ts';
import { code, text } from '../cells.ts';
import { badge } from '../console-page.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

/** What to publish for each domain, and whether it was seen. */
export function domainProofs({ domain_proofs: proofs }: Json): Html | string {
  const all = proofs as readonly Json[]; // the API's shape
  if (all.length === 0) return 'no domains';
  return html`<ul class="plain">${all.map(
    ({ domain, name, value, proven_at: provenAt }) =>
      html`<li><b>${text(domain)}</b> ${provenAt === null ? badge('not proven', 'bad') : badge('proven', 'good')}<br>TXT ${code(name)}<br>${code(value)}</li>`,
  )}</ul>`;
}

export const checkDomains: NonNullable<ConsoleResource['actions']>[number] = {
  name: 'Check the TXT records',
  done: 'was checked: its domains below say what was seen',
  path: '/check-domains',
  applies: (json) => (json['domains'] as readonly string[]).length > 0, // the API's shape
};
