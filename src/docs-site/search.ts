// Search of the documents: every section of every page, by its words and beginnings of words. The index is made by the first search.
import MiniSearch from 'minisearch';
import type { DocsLibrary } from './library.ts';

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
      }),
    );
  });
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const index = new MiniSearch<Entry>({
    fields: ['section', 'page', 'text'],
    searchOptions: {
      boost: { section: 4, page: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boostDocument: (id) => (/^\/docs\/(?:decisions|changelog)/.test(id) ? 0.2 : 1),
    },
  });
  index.addAll([...byId.values()]);
  return (query) => {
    const all = index.search(query, { combineWith: 'AND' });
    const best = all.length > 0 ? all : index.search(query);
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
