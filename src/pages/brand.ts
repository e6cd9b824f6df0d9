// A tenant's look as pages carry it: colours and corners as CSS variables, its logo, favicon and links. Values come from the closed fields
// of domain/appearance/branding.ts, which write no style of their own. Ink on the accent is chosen for contrast (WCAG 1.4.3).
import { accentsOf, assetUrl, type Branding } from '../domain/appearance/branding.ts';
import { inkOn } from '../domain/appearance/colors.ts';
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Html, html } from '../platform/html.ts';
import { brandTexts } from '../texts/brand-texts.ts';

const brandingOf = (tenant: Tenant | undefined): Branding => tenant?.settings.branding ?? {};

/** `#rrggbb`, on light ground */
export const accentOf = (tenant: Tenant | undefined): string => accentsOf(brandingOf(tenant)).light;

/** Of the card's corners; those of fields and buttons are in the proportion of the style sheet. */
const fieldCorner = 8 / 15;

export function brandVariables(tenant: Tenant | undefined): string {
  const branding = brandingOf(tenant);
  const { light, dark } = accentsOf(branding);
  const { background, background_dark: backgroundDark, corner_radius: corner } = branding;
  const page = (color: string | undefined): string => (color === undefined ? '' : `;--page:${color}`);
  const corners = corner === undefined ? '' : `;--card-corner:${corner}px;--corner:${Math.round(corner * fieldCorner)}px`;
  return `:root{--accent:${light};--on-accent:${inkOn(light)}${page(background)}${corners}}@media (prefers-color-scheme:dark){:root{--accent:${dark};--on-accent:${inkOn(dark)}${page(backgroundDark)}}}`;
}

/** The link to the icon of the tab; none is asked for where there is none. */
export function faviconLink(tenant: Tenant | undefined): Html {
  const { favicon } = brandingOf(tenant);
  return html`<link rel="icon" href="${tenant === undefined || favicon === undefined ? 'data:,' : assetUrl(tenant, favicon)}">`;
}

/** What stands at the head of a page: the logo, or initial and name. */
export function brandMark(tenant: Tenant | undefined): Html {
  const name = tenant?.name ?? 'Gatehouse';
  return (
    logoOf(tenant) ?? html`<span class="mark" aria-hidden="true">${[...name][0]?.toUpperCase()}</span><span class="brand">${name}</span>`
  );
}

export function logoOf(tenant: Tenant | undefined): Html | undefined {
  const { logo } = brandingOf(tenant);
  return tenant === undefined || logo === undefined
    ? undefined
    : html`<img class="logo" src="${assetUrl(tenant, logo)}" alt="${tenant.name}">`;
}

/** The tenant's links at the foot of a page; undefined when it has none. */
export function brandLinks(tenant: Tenant | undefined, language: Language): Html | undefined {
  const { help_url: help, terms_url: terms, privacy_url: privacy } = brandingOf(tenant);
  const texts = brandTexts[language];
  const links = [
    [help, texts.help],
    [terms, texts.terms],
    [privacy, texts.privacy],
  ] as const;
  if (links.every(([url]) => url === undefined)) return undefined;
  return html`<footer class="legal">${links.map(([url, text]) => url !== undefined && html`<a href="${url}" rel="noreferrer">${text}</a>`)}</footer>`;
}
