// Lists of what a tenant has few of (clients, resources, service providers), narrowed to rows whose names hold a text.
// Rows are read in batches in their order and compared by their folded texts, so no list needs a search column of its own.
// Users and groups, of which there may be a million, have indexed keys and are searched in SQL (users.ts, groups.ts).
import { foldKey } from '../../../domain/fold.ts';

/** Rows after a key, in the order of their keys. */
export interface Page {
  readonly after: string;
  readonly limit: number;
}

export interface SearchedPage extends Page {
  /** Part of a name, any case; undefined lists all. */
  readonly search?: string | undefined;
}

const batchRows = 500;

/** A page of the rows one of whose texts holds `search`, or whose key it is. `load` gives rows after a key, in the order of their keys. */
export async function listMatching<Row>(
  page: SearchedPage,
  load: (page: Page) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  textsOf: (row: Row) => readonly string[],
): Promise<readonly Row[]> {
  if (page.search === undefined) return load(page);
  const wanted = foldKey(page.search);
  const found: Row[] = [];
  let { after } = page;
  for (;;) {
    const batch = await load({ after, limit: batchRows });
    found.push(...batch.filter((row) => keyOf(row) === page.search || textsOf(row).some((text) => foldKey(text).includes(wanted))));
    if (found.length >= page.limit || batch.length < batchRows) return found.slice(0, page.limit);
    after = keyOf(batch[batch.length - 1]!);
  }
}
