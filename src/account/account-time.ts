// Times as people read them: in their language and, when their profile names one, their time zone; else UTC, and said so.
import { type Html, html } from '../platform/html.ts';
import type { AccountVisit } from './account-visit.ts';

/** `<time>` of an instant in epoch milliseconds. */
export function timeOf(
  { language, user }: Pick<AccountVisit, 'language'> & { readonly user?: Pick<AccountVisit['user'], 'timezone'> },
  atMs: number,
): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${formatOf(language, user?.timezone ?? 'UTC').format(atMs)}</time>`;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 200;

function formatOf(language: string, timeZone: string): Intl.DateTimeFormat {
  const key = `${language} ${timeZone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = makeFormat(language, timeZone) ?? makeFormat(language, 'UTC');
  if (made === undefined) throw new Error(`no date format for ${language}`);
  if (formats.size >= formatsMax) formats.clear();
  formats.set(key, made);
  return made;
}

/** Undefined for a time zone nobody knows: profiles come from elsewhere. */
function makeFormat(language: string, timeZone: string): Intl.DateTimeFormat | undefined {
  const parts = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  try {
    return new Intl.DateTimeFormat(language, { ...parts, timeZone });
  } catch {
    return undefined;
  }
}
