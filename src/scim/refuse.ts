// The SCIM refusals that carry a detail text, as one-line calls (contract 7.13). Values from requests never enter a text whole.
import { type ContractError, reject } from '../contract/contract-error.ts';
import { emailTarget } from '../domain/extending/ldap-presets.ts';
import { userAttributes } from '../domain/people/user-attributes.ts';
import { isForeignKeyViolation } from '../storage/engine/foreign-key-violation.ts';
import { ValueTaken } from '../storage/engine/unique-violation.ts';
import { ManagedByDirectory } from '../storage/people/directories/ldap-people.ts';
import { LastOwner } from '../storage/people/user-roles.ts';
import { FilterProblem } from './filter/filter-syntax.ts';

export const invalidValue = (text: string): ContractError => reject('scim.invalidValue', 'invalid_value', { text });
export const invalidPath = (text: string): ContractError => reject('scim.invalidPath', 'invalid_path', { text });
export const invalidSyntax = (text: string): ContractError => reject('scim.invalidSyntax', 'invalid_syntax', { text });
export const invalidFilter = (text: string): ContractError => reject('scim.invalidFilter', 'invalid_filter', { text });
export const noTarget = (text: string): ContractError => reject('scim.noTarget', 'no_target', { text });

/** Runs a parse of a query filter; its problems are invalidFilter, a bad date invalidValue. */
export function asQueryFilter<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof FilterProblem)) throw error;
    throw error.kind === 'value' ? invalidValue(sentence(error)) : invalidFilter(sentence(error));
  }
}

/** Runs a parse of a PATCH path; its problems are invalidPath. */
export function asPatchPath<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof FilterProblem)) throw error;
    throw invalidPath(sentence(error));
  }
}

function sentence(problem: FilterProblem): string {
  return `${problem.message.charAt(0).toUpperCase()}${problem.message.slice(1)}.`;
}

/** Runs a transaction; a value somebody else has is the 409 that `taken` makes, the last owner stays, and what a directory says stays. */
export async function unlessTaken<Value>(taken: (field: string) => Error, transaction: () => Promise<Value>): Promise<Value> {
  try {
    return await transaction();
  } catch (error) {
    throw error instanceof ValueTaken ? taken(error.field) : refusedWrite(error);
  }
}

/**
 * What is told of a transaction that failed because no owner would remain, a directory of LDAP says otherwise, or what it wrote to was
 * deleted meanwhile; any other error as it is.
 */
export function refusedWrite(error: unknown): unknown {
  if (error instanceof LastOwner) return reject('scim.invalidValue', 'last_owner', { text: 'One owner must remain active.' });
  if (isForeignKeyViolation(error)) return reject('scim.resource_not_found', 'deleted_meanwhile');
  if (!(error instanceof ManagedByDirectory)) return error;
  const names = error.fields.map((field) => scimNames.get(field) ?? field);
  const text = `An LDAP directory manages ${names.join(', ')}: change it there.`;
  return reject('scim.invalidValue', 'managed_by_directory', { text });
}

/** What is not called here as in the API. */
const scimNames: ReadonlyMap<string, string> = new Map([
  ...userAttributes.map(({ path, scim }) => [path, scim] as const),
  [emailTarget, 'emails'],
]);
