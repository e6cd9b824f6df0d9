// Reads a bulk request (RFC 7644 section 3.7): the whole is refused as invalidValue or tooMany (contract 7.13); what is wrong
// with one operation is that operation's own failure and is found when it runs.
import { reject } from '../../contract/contract-error.ts';
import { scimBulkOperationsMax } from '../../contract/limits.ts';
import { invalidValue } from '../refuse.ts';
import { isJsonObject, type JsonObject } from '../value-reader.ts';

export interface BulkOperation {
  readonly method: string;
  readonly path: string;
  readonly bulkId: string | undefined;
  readonly version: string | undefined;
  readonly data: unknown;
}

export interface BulkRequest {
  /** Errors after which the rest is not processed; undefined processes everything. */
  readonly failOnErrors: number | undefined;
  readonly operations: readonly BulkOperation[];
}

/** The typed form of a bulk body. */
export function readBulkBody(body: unknown): BulkRequest {
  if (!isJsonObject(body)) throw invalidValue('The bulk request must be a JSON object.');
  const operations = member(body, 'operations');
  if (!Array.isArray(operations)) throw invalidValue('Operations must be a list.');
  if (operations.length > scimBulkOperationsMax) {
    throw reject(
      'scim.tooMany',
      { reason: 'bulk_operations', received: operations.length, expected: scimBulkOperationsMax },
      {
        text: `A bulk request has at most ${scimBulkOperationsMax} operations.`,
      },
    );
  }
  return { failOnErrors: readFailOnErrors(member(body, 'failonerrors')), operations: operations.map(readOperation) };
}

function readFailOnErrors(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw invalidValue('failOnErrors must be an integer.');
  return value === 0 ? undefined : value;
}

function readOperation(item: unknown): BulkOperation {
  if (!isJsonObject(item)) throw invalidValue('Each bulk operation must be an object.');
  const text = (name: string): string | undefined => {
    const value = member(item, name.toLowerCase());
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw invalidValue(`${name} of a bulk operation must be a string.`);
    return value ?? undefined;
  };
  return {
    method: text('method') ?? '',
    path: text('path') ?? '',
    bulkId: text('bulkId'),
    version: text('version'),
    data: member(item, 'data'),
  };
}

function member(object: JsonObject, lowerName: string): unknown {
  const key = Object.keys(object).findLast((candidate) => candidate.toLowerCase() === lowerName);
  return key === undefined ? undefined : object[key];
}
