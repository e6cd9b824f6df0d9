// Lists and searches as answers: one resource type, or all of them at the root (RFC 7644 sections 3.4.2 and 3.4.3).
// A page is written in pieces, because a page of groups may carry members without number.
import type { Queries } from '../../storage/engine/database.ts';
import { listGroupsById } from '../../storage/people/groups.ts';
import { listUsersById } from '../../storage/people/users.ts';
import { loadTenantKey } from '../../tokens/tenant-secret.ts';
import type { Document } from '../document.ts';
import type { Filter } from '../filter/filter-meaning.ts';
import { parseFilter } from '../filter/filter-parser.ts';
import { withoutReferences } from '../filter/filter-references.ts';
import { resolveFilter } from '../filter/filter-resolver.ts';
import { FilterProblem, type FilterSyntax } from '../filter/filter-syntax.ts';
import { groupPieces } from '../group-writer.ts';
import { documentOfGroup } from '../groups.ts';
import { asQueryFilter, invalidValue } from '../refuse.ts';
import { renderResource } from '../render.ts';
import { type ScimContext, typesOf } from '../request-context.ts';
import { listResponseUrn } from '../schema/discovery.ts';
import { isUsers, type TypeIndex } from '../schema/schema-lookup.ts';
import { completeUsers } from '../user-loader.ts';
import { bindingOf, type PagePosition, readCursor, writeCursor } from './cursor.ts';
import { type FoundPage, findPage, type PageRequest } from './list.ts';
import type { ListQuery } from './list-query.ts';
import { type Projection, readProjection } from './projection.ts';
import { readSortOrder } from './sort-order.ts';

/** Searches one resource type; gives the ListResponse in pieces. */
export async function searchType(context: ScimContext, index: TypeIndex, query: ListQuery): Promise<AsyncGenerator<string>> {
  const projection = readProjection(index, query.attributes, query.excludedAttributes);
  const { filter: filterText } = query;
  const filter = filterText === undefined ? undefined : asQueryFilter(() => resolveFilter(index, readFilter(context, filterText)));
  const order = readSortOrder(index, query.sortBy, query.descending);
  const { organization } = context.directory;
  const asked = [index.type.name, query.filter, order.column, String(order.descending)];
  const binding = bindingOf(organization === undefined ? asked : [...asked, organization]);
  const position = await startOf(context, query, binding);
  const { page, part } = await loadPart(context, index, projection, { filter, filterText, order, count: query.count, position });
  const next = query.cursor === undefined || page.next === undefined ? undefined : await cursorOf(context, binding, page.next);
  const head = {
    totalResults: page.total,
    itemsPerPage: page.ids.length,
    ...(query.cursor === undefined ? { startIndex: query.startIndex } : next === undefined ? {} : { nextCursor: next }),
  };
  return listPieces(context, head, [part]);
}

/** Searches every resource type whose attributes the filter names; users come before groups. */
export async function searchAll(context: ScimContext, query: ListQuery): Promise<AsyncGenerator<string>> {
  if (query.cursor !== undefined) throw invalidValue('A search over all resource types pages by startIndex.');
  const parts: Part[] = [];
  let itemsPerPage = 0;
  let total = 0;
  for (const { index, filter } of typesFor(context, query)) {
    const projection = readProjection(index, query.attributes, query.excludedAttributes);
    const position = { skip: Math.max(query.startIndex - 1 - total, 0) };
    const order = readSortOrder(index, query.sortBy, query.descending);
    const request = { filter, filterText: query.filter, order, count: query.count - itemsPerPage, position };
    const { page, part } = await loadPart(context, index, projection, request);
    total += page.total;
    itemsPerPage += page.ids.length;
    parts.push(part);
  }
  return listPieces(context, { totalResults: total, itemsPerPage, startIndex: query.startIndex }, parts);
}

const readFilter = ({ base }: ScimContext, text: string): FilterSyntax => withoutReferences(parseFilter(text), base);

/** The types a filter makes sense for; an attribute unknown to all of them is refused. */
function typesFor(context: ScimContext, query: ListQuery): readonly { readonly index: TypeIndex; readonly filter: Filter | undefined }[] {
  const { filter: text } = query;
  if (text === undefined) return typesOf(context).map((index) => ({ index, filter: undefined }));
  return asQueryFilter(() => {
    const syntax = readFilter(context, text);
    let unknown: FilterProblem | undefined;
    const types = typesOf(context).flatMap((index) => {
      try {
        return [{ index, filter: resolveFilter(index, syntax) }];
      } catch (error) {
        if (!(error instanceof FilterProblem) || error.kind !== 'unknown') throw error;
        unknown = error;
        return [];
      }
    });
    if (types.length === 0 && unknown !== undefined) throw unknown;
    return types;
  });
}

async function startOf(context: ScimContext, query: ListQuery, binding: string): Promise<PagePosition> {
  if (query.cursor === undefined) return { skip: query.startIndex - 1 };
  if (query.cursor !== '') return readCursor(await cursorKey(context), binding, query.cursor, context.services.clock.nowMs());
  return { after: undefined };
}

async function cursorOf(context: ScimContext, binding: string, position: PagePosition): Promise<string> {
  return writeCursor(await cursorKey(context), binding, position, context.services.clock.nowMs());
}

function cursorKey({ services, tenant }: ScimContext): Promise<Buffer> {
  return loadTenantKey(services.cache, services.encryption, tenant.id, 'scim-cursor');
}

interface Part {
  readonly index: TypeIndex;
  readonly documents: readonly Document[];
  readonly projection: Projection;
}

/** A page and what it shows, in one transaction. */
function loadPart(
  context: ScimContext,
  index: TypeIndex,
  projection: Projection,
  request: PageRequest,
): Promise<{ readonly page: FoundPage; readonly part: Part }> {
  return context.services.database.read(context.tenant.id, async (queries) => {
    const page = await findPage(context, queries, index, request);
    return { page, part: { index, documents: await listDocuments(context, queries, index, page.ids, projection), projection } };
  });
}

async function* listPieces(context: ScimContext, head: object, parts: readonly Part[]): AsyncGenerator<string> {
  yield `${JSON.stringify({ schemas: [listResponseUrn], ...head }).slice(0, -1)},"Resources":[`;
  let separator = '';
  for (const { index, documents, projection } of parts) {
    for (const document of documents) {
      yield separator;
      separator = ',';
      if (isUsers(index)) yield JSON.stringify(renderResource(index, document, context.base, projection));
      else yield* groupPieces(context, document, projection);
    }
  }
  yield ']}';
}

async function listDocuments(
  context: ScimContext,
  queries: Queries,
  index: TypeIndex,
  ids: readonly string[],
  projection: Projection,
): Promise<readonly Document[]> {
  if (ids.length === 0) return [];
  const { dialect } = context.services.database;
  if (isUsers(index)) {
    const rows = inOrder(ids, await listUsersById(queries, dialect, context.tenant.id, ids));
    const live = rows.filter((row) => row.state !== 'deleted');
    return completeUsers(context, queries, live, projection);
  }
  return inOrder(ids, await listGroupsById(queries, dialect, context.directory, ids)).map(documentOfGroup);
}

function inOrder<Row extends { readonly id: string }>(ids: readonly string[], rows: readonly Row[]): readonly Row[] {
  const byId = new Map<string, Row>(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
