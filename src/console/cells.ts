// How values of the Management API look in tables and fact lists of the console.
import { scopeMeanings } from '../domain/oidc/standard-scopes.ts';
import { capabilityWords } from '../domain/people/capabilities.ts';
import { type Html, html } from '../platform/html.ts';
import { badge, shownTime } from './console-page.ts';

type Json = Readonly<Record<string, unknown>>;

/** Nothing for what is absent. */
export function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

export function code(value: unknown): Html {
  return html`<code>${text(value)}</code>`;
}

/** What people call a name on the wire, which is in the tooltip; a name without words as it is. */
export function worded(value: unknown, choices: Readonly<Record<string, { readonly label: string }>>): Html | string {
  const name = text(value);
  return Object.hasOwn(choices, name) ? html`<span title="${name}">${choices[name]!.label}</span>` : name;
}

const scopesShown = 4;
const scopeWords: Readonly<Record<string, string>> = { ...capabilityWords, ...scopeMeanings };

/** What scopes open, in words; those of the tenant's APIs by their names. */
export function scopesNamed(scopes: string): Html {
  const all = scopes.split(' ').filter((scope) => scope !== '');
  const words = all
    .slice(0, scopesShown)
    .map((scope) => (Object.hasOwn(scopeWords, scope) ? scopeWords[scope]!.replace(/\.$/, '') : scope));
  return html`<span title="${scopes}">${words.join('; ')}${all.length > scopesShown && ` and ${all.length - scopesShown} more`}</span>`;
}

export function enabled(json: Json): Html {
  return json['enabled'] === true ? badge('enabled', 'good') : badge('disabled', 'bad');
}

export const created = ['Made', (json: Json) => shownTime(json['created_at']), 'created_at'] as const;

/** To the minute; what is recorded begins with the release that shows it. */
export const lastSignIn = [
  'Last sign-in',
  ({ last_sign_in_at: at }: Json): Html | string => (at === undefined ? html`<span class="muted">none known</span>` : shownTime(at)),
  'last_sign_in_at',
] as const;

/** Of a client, to the hour: tokens of every grant, and sign-ins. */
export const lastUsed = [
  'Last used',
  ({ last_used_at: at }: Json): Html | string => (at === undefined ? html`<span class="muted">none known</span>` : shownTime(at)),
  'last_used_at',
] as const;

/** Who manages a group, in words; empty for what is none. */
export const groupOrigin = ({ origin }: Json): string => (origin === 'identity_provider' ? 'identity provider' : text(origin));
