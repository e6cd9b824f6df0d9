// Lists and searches as answers: one resource type, or all of them at the root (RFC 7644 sections 3.4.2 and 3.4.3).
// A page is written in pieces, because a page of groups may carry members without number.
import type { Queries } from '../storage/database.ts';
import { listGroupsById } from '../storage/provisioned-groups.ts';
import { listUsersById } from '../storage/provisioned-users.ts';
import { loadTenantKey } from '../tokens/tenant-secret.ts';
import { bindingOf, type Position, readCursor, writeCursor } from './cursor.ts';
import { listResponseUrn } from './discovery.ts';
import type { Document } from './document.ts';
import type { Filter } from './filter-meaning.ts';
import { parseFilter } from './filter-parser.ts';
import { resolveFilter } from './filter-resolver.ts';
import { FilterProblem } from './filter-syntax.ts';
import { groupPieces } from './group-writer.ts';
import { documentOfGroup } from './groups.ts';
import { type FoundPage, findPage } from './list.ts';
import type { ListQuery } from './list-query.ts';
import { type Projection, readProjection } from './projection.ts';
import { asQueryFilter, invalidValue } from './refuse.ts';
import { renderResource } from './render.ts';
import { type ScimContext, scimBase } from './request-context.ts';
import { type TypeIndex, typeIndexes, userIndex } from './schema-lookup.ts';
import { readSortOrder } from './sort-order.ts';
import { completeUsers } from './user-loader.ts';

/** Searches one resource type; gives the ListResponse in pieces. */
export async function searchType(context: ScimContext, index: TypeIndex, query: ListQuery): Promise<AsyncGenerator<string>> {
  const projection = readProjection(index, query.attributes, query.excludedAttributes);
  const { filter: filterText } = query;
  const filter = filterText === undefined ? undefined : asQueryFilter(() => resolveFilter(index, parseFilter(filterText)));
  const order = readSortOrder(index, query.sortBy, query.descending);
  const binding = bindingOf([index.type.name, query.filter, order.column, String(order.descending)]);
  const position = await startOf(context, query, binding);
  const page = await findPage(context, index, { filter, filterText, order, count: query.count, position });
  const next = query.cursor === undefined || page.next === undefined ? undefined : await cursorOf(context, binding, page.next);
  const head = {
    totalResults: page.total,
    itemsPerPage: page.ids.length,
    ...(query.cursor === undefined ? { startIndex: query.startIndex } : next === undefined ? {} : { nextCursor: next }),
  };
  return listPieces(context, head, [{ index, ids: page.ids, projection }]);
}

/** Searches every resource type whose attributes the filter names; users come before groups. */
export async function searchAll(context: ScimContext, query: ListQuery): Promise<AsyncGenerator<string>> {
  if (query.cursor !== undefined) throw invalidValue('A search over all resource types pages by startIndex.');
  const parts: { index: TypeIndex; ids: readonly string[]; projection: Projection }[] = [];
  let total = 0;
  for (const { index, filter } of typesOf(query)) {
    const projection = readProjection(index, query.attributes, query.excludedAttributes);
    const taken = parts.reduce((sum, part) => sum + part.ids.length, 0);
    const position = { skip: Math.max(query.startIndex - 1 - total, 0) };
    const order = readSortOrder(index, query.sortBy, query.descending);
    const page: FoundPage = await findPage(context, index, {
      filter,
      filterText: query.filter,
      order,
      count: query.count - taken,
      position,
    });
    total += page.total;
    parts.push({ index, ids: page.ids, projection });
  }
  const itemsPerPage = parts.reduce((sum, part) => sum + part.ids.length, 0);
  return listPieces(context, { totalResults: total, itemsPerPage, startIndex: query.startIndex }, parts);
}

/** The types a filter makes sense for; an attribute unknown to all of them is refused. */
function typesOf(query: ListQuery): readonly { readonly index: TypeIndex; readonly filter: Filter | undefined }[] {
  const { filter: text } = query;
  if (text === undefined) return typeIndexes.map((index) => ({ index, filter: undefined }));
  return asQueryFilter(() => {
    const syntax = parseFilter(text);
    let unknown: FilterProblem | undefined;
    const types = typeIndexes.flatMap((index) => {
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

async function startOf(context: ScimContext, query: ListQuery, binding: string): Promise<Position> {
  if (query.cursor === undefined) return { skip: query.startIndex - 1 };
  if (query.cursor !== '') return readCursor(await cursorKey(context), binding, query.cursor, context.services.clock.nowMs());
  return { after: undefined };
}

async function cursorOf(context: ScimContext, binding: string, position: Position): Promise<string> {
  return writeCursor(await cursorKey(context), binding, position, context.services.clock.nowMs());
}

function cursorKey({ services, tenant }: ScimContext): Promise<Buffer> {
  return loadTenantKey(services.cache, services.encryption, tenant.id, 'scim-cursor');
}

interface Part {
  readonly index: TypeIndex;
  readonly ids: readonly string[];
  readonly projection: Projection;
}

async function* listPieces(context: ScimContext, head: object, parts: readonly Part[]): AsyncGenerator<string> {
  yield `${JSON.stringify({ schemas: [listResponseUrn], ...head }).slice(0, -1)},"Resources":[`;
  let separator = '';
  for (const { index, ids, projection } of parts) {
    for (const document of await loadDocuments(context, index, ids, projection)) {
      yield separator;
      separator = ',';
      if (index === userIndex) yield JSON.stringify(renderResource(index, document, scimBase(context.tenant), projection));
      else yield* groupPieces(context, document, projection);
    }
  }
  yield ']}';
}

async function loadDocuments(
  context: ScimContext,
  index: TypeIndex,
  ids: readonly string[],
  projection: Projection,
): Promise<readonly Document[]> {
  if (ids.length === 0) return [];
  const { services, tenant } = context;
  const { dialect } = services.database;
  return services.database.read(tenant.id, async (queries: Queries) => {
    if (index === userIndex) {
      const rows = inOrder(ids, await listUsersById(queries, dialect, tenant.id, ids));
      return completeUsers(
        dialect,
        queries,
        tenant.id,
        rows.filter((row) => row.state !== 'deleted'),
        projection,
      );
    }
    return inOrder(ids, await listGroupsById(queries, dialect, tenant.id, ids)).map(documentOfGroup);
  });
}

function inOrder<Row extends { readonly id: string }>(ids: readonly string[], rows: readonly Row[]): readonly Row[] {
  const byId = new Map<string, Row>(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
