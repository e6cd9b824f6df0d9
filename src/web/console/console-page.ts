// What the frame of a page says in the console: its sections and words; and the small pieces pages are made of. Pages show
// what the API told; nothing here asks for anything.
import { rootTenantSlug, type Tenant } from '../../domain/tenant.ts';
import type { Page } from '../../http/pages/page.ts';
import { type Html, html } from '../../platform/html.ts';
import { appPage, csrfField, type Frame } from '../own-app/app-page.ts';
import { appPath } from '../own-app/own-app.ts';
import { consoleApp } from './console-client.ts';
import { consoleStyle } from './console-style.ts';

type Section = readonly [path: string, name: string];

const sections: readonly Section[] = [
  ['', 'Overview'],
  ['/clients', 'Clients'],
  ['/resources', 'Resources'],
  ['/users', 'Users'],
  ['/groups', 'Groups'],
  ['/service-providers', 'Service providers'],
  ['/scim', 'SCIM set-up'],
  ['/signing-keys', 'Signing keys'],
  ['/settings', 'Settings'],
  ['/events', 'Audit events'],
  ['/explain', 'Explain'],
];
/** The root tenant's administrators are the operators: they manage tenants too. */
const operatorSections: readonly Section[] = [...sections.slice(0, 1), ['/tenants', 'Tenants'], ...sections.slice(1)];

export const isOperatorTenant = (tenant: Tenant): boolean => tenant.slug === rootTenantSlug;

export type ConsoleFrame = Pick<Frame, 'tenant' | 'person' | 'csrf' | 'at' | 'notice'>;

/** Path of a console page as the browser asks for it. */
export const consolePath = (tenant: Tenant, path: string): string => appPath(consoleApp, tenant, path);

const words = { skip: 'Skip to content', navigation: 'Console', signOut: 'Sign out' } as const;

export const consolePage = (frame: ConsoleFrame, title: string, content: Html): Page =>
  appPage(
    {
      ...frame,
      own: consoleApp,
      language: 'en',
      words,
      sections: isOperatorTenant(frame.tenant) ? operatorSections : sections,
      style: consoleStyle,
    },
    title,
    content,
  );

export interface Button {
  /** Below /console. */
  readonly path: string;
  readonly label: string;
  readonly id?: string;
  readonly style?: 'quiet' | 'danger' | 'small quiet' | 'small danger' | 'small';
  readonly fields?: Readonly<Record<string, string>>;
  /** What a screen reader says beside the label, e.g. which row the button is of. */
  readonly of?: string;
}

/** A button that posts. */
export function postButton({ tenant, csrf }: Pick<ConsoleFrame, 'tenant' | 'csrf'>, button: Button): Html {
  const { path, label, id, style, fields = {}, of } = button;
  return html`<form method="post" action="${consolePath(tenant, path)}">${csrfField({ csrf })}${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button${style !== undefined && html` class="${style}"`}${id !== undefined && html` id="${id}"`}>${label}${of !== undefined && html`<span class="hidden"> ${of}</span>`}</button></form>`;
}

/** What a list or panel says while it has nothing to show. */
export const emptyState = (title: string, text: string, action?: Html): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p>${action}</div>`;

/** A state as a small label; the text says it, the colour repeats it. */
export const badge = (text: string, kind: 'good' | 'bad' | 'plain'): Html => html`<span class="badge ${kind}">${text}</span>`;

/** A time of the API as people read it, in UTC. */
export function shownTime(value: unknown): Html | string {
  if (typeof value !== 'string' || value === '') return '';
  return html`<time datetime="${value}">${value.slice(0, 10)} ${value.slice(11, 16)} UTC</time>`;
}

/** Facts as name and value. */
export const factList = (facts: readonly (readonly [name: string, value: Html | string])[]): Html =>
  html`<dl class="card">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
