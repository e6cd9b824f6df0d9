// How values of the Management API look in tables and fact lists of the console.
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

export function enabled(json: Json): Html {
  return json['enabled'] === true ? badge('enabled', 'good') : badge('disabled', 'bad');
}

export const created = ['Made', (json: Json) => shownTime(json['created_at'])] as const;

/** To the minute; what is recorded begins with the release that shows it. */
export const lastSignIn = [
  'Last sign-in',
  ({ last_sign_in_at: at }: Json): Html | string => (at === undefined ? html`<span class="muted">none known</span>` : shownTime(at)),
] as const;

/** Who manages a group, in words; empty for what is none. */
export const groupOrigin = ({ origin }: Json): string => (origin === 'identity_provider' ? 'identity provider' : text(origin));
