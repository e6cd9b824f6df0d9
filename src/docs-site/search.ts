// Search of the documents: every section of every page, by its words and beginnings of words, and by what other products call things.
// Guides come before reference, and reference before decisions. The index is made by the first search.
import MiniSearch, { type Query } from 'minisearch';
import type { DocsLibrary } from './library.ts';
import { otherNames } from './other-names.ts';

export interface Found {
  /** Below /docs, with the anchor of the section. */
  readonly path: string;
  readonly page: string;
  readonly section: string;
  /** The words around the first one found. */
  readonly excerpt: string;
}

export type Search = (query: string) => readonly Found[];

const foundMax = 20;
const excerptChars = 180;
const leadChars = 60;

interface Entry {
  readonly id: string;
  readonly page: string;
  readonly section: string;
  readonly text: string;
  /** What other products call it. */
  readonly names: string;
}

/** Words that people type for a word of these documents. What other products call a whole page is in other-names.ts. */
const alike: Readonly<Record<string, readonly string[]>> = {
  app: ['application', 'client'],
  apps: ['applications', 'clients'],
  audit: ['events', 'trail'],
  idp: ['other providers'],
  login: ['sign in'],
  logout: ['sign out'],
  logs: ['events', 'explain'],
  organization: ['organisation'],
  organizations: ['organisations'],
  otp: ['mailed code'],
  signin: ['sign in'],
  signup: ['invite'],
  user: ['person'],
  users: ['people'],
};

/** How much a find of a page counts, by what kind of page it is: the first that fits. */
const worth: readonly (readonly [path: RegExp, factor: number])[] = [
  [/^\/docs\/(?:decisions|changelog)/, 0.1],
  [/^\/docs\/(?:reference|contract|gaps|divergences|certification|performance|architecture|device-protocol)/, 0.4],
  [/^\/docs(?:\/contents)?(?:#|$)/, 0.3], // lists of the others
  [/^\/docs\/how-to\//, 1.6],
];
/** The head of a page says what the page is for. */
const headFactor = 1.5;

function worthOf(id: string): number {
  const factor = worth.find(([path]) => path.test(id))?.[1] ?? 1;
  return id.includes('#') ? factor : factor * headFactor;
}

const synonymFactor = 0.6;

/** Each word as it was typed, or what these documents say instead. */
function queryOf(typed: string, combineWith: 'AND' | 'OR'): Query {
  const words = typed
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '');
  return {
    combineWith,
    queries: words.map((word) => ({
      combineWith: 'OR',
      queries: [
        word,
        ...(Object.hasOwn(alike, word) ? alike[word]! : []).map((phrase) => ({
          combineWith: 'AND' as const,
          queries: phrase.split(' '),
          boostTerm: () => synonymFactor,
        })),
      ],
    })),
  };
}

/** Indexes what the library shows; the search gives the best 20 sections, best first. */
export function makeSearch(library: Pick<DocsLibrary, 'paths' | 'findPage'>): Search {
  const entries = library.paths.flatMap((path) => {
    const page = library.findPage(path);
    return (page?.sections ?? []).map(
      ({ id, heading, text }): Entry => ({
        id: `/docs${path === '' ? '' : `/${path}`}${id === '' ? '' : `#${id}`}`,
        page: page?.title ?? '',
        section: heading,
        text,
        names: otherNames[id === '' ? path : `${path}#${id}`] ?? '',
      }),
    );
  });
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const index = new MiniSearch<Entry>({
    fields: ['names', 'section', 'page', 'text'],
    searchOptions: {
      boost: { names: 12, section: 4, page: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boostDocument: (id) => worthOf(String(id)),
    },
  });
  index.addAll([...byId.values()]);
  return (query) => {
    const all = index.search(queryOf(query, 'AND'));
    const best = all.length > 0 ? all : index.search(queryOf(query, 'OR'));
    return best.slice(0, foundMax).map(({ id, terms }) => {
      const { page, section, text } = byId.get(String(id))!;
      return { path: String(id), page, section, excerpt: excerptOf(text, terms) };
    });
  };
}

function excerptOf(text: string, terms: readonly string[]): string {
  const folded = text.toLowerCase();
  const at = Math.min(...terms.map((term) => folded.indexOf(term)).filter((place) => place >= 0), text.length);
  const start = at === text.length || at <= leadChars ? 0 : text.indexOf(' ', at - leadChars) + 1;
  const part = text.slice(start, start + excerptChars);
  return `${start > 0 ? '… ' : ''}${part}${start + excerptChars < text.length ? ' …' : ''}`;
}
