// bulkId references (RFC 7644 section 3.7.2). Every POST gets its id before anything runs, so a reference forward or in a
// circle is only a text to replace; which operations must run first is all that is left to decide.
import type { BulkOperation } from './bulk-body.ts';

/** The ids of the resources a bulk request will create, by bulkId. */
export interface BulkIds {
  /** Index of the operation that creates the resource, by bulkId; the first of duplicates. */
  readonly creators: ReadonlyMap<string, number>;
  /** The id an operation's resource will have, by operation index. */
  readonly ids: readonly (string | undefined)[];
}

/** Assigns ids to the POST operations. */
export function assignIds(operations: readonly BulkOperation[], newId: () => string): BulkIds {
  const creators = new Map<string, number>();
  const ids = operations.map((operation, at) => {
    if (operation.method.toUpperCase() !== 'POST') return undefined;
    if (operation.bulkId !== undefined && !creators.has(operation.bulkId)) creators.set(operation.bulkId, at);
    return newId();
  });
  return { creators, ids };
}

const wholeReference = /^bulkId:(.+)$/s;
const pathReference = /bulkId:([^/?"\]]+)/g;

/** The bulkIds an operation names in its path and data. */
export function referencesOf(operation: BulkOperation): ReadonlySet<string> {
  const found = new Set<string>([...operation.path.matchAll(pathReference)].map((match) => match[1]!));
  collect(operation.data, found);
  return found;
}

/** The operation with every reference replaced by the id it stands for. */
export function resolved(operation: BulkOperation, idOf: (bulkId: string) => string): BulkOperation {
  return {
    ...operation,
    path: operation.path.replaceAll(pathReference, (_whole, bulkId: string) => idOf(bulkId)),
    data: replaceIn(operation.data, idOf),
  };
}

function collect(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    const match = wholeReference.exec(value);
    if (match !== null) found.add(match[1]!);
  } else if (Array.isArray(value)) for (const item of value) collect(item, found);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) collect(item, found);
}

function replaceIn(value: unknown, idOf: (bulkId: string) => string): unknown {
  if (typeof value === 'string') {
    const match = wholeReference.exec(value);
    return match === null ? value : idOf(match[1]!);
  }
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, idOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceIn(item, idOf)]));
}
