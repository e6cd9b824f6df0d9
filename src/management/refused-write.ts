// What a caller is told of a write that storage refused, wherever it was caught.
import { isForeignKeyViolation } from '../storage/engine/foreign-key-violation.ts';
import { ManagedByDirectory } from '../storage/people/directories/ldap-people.ts';
import { LastOwner } from '../storage/people/user-roles.ts';
import { conflict, notFound } from './endpoint.ts';

/** The row of a refused write; any other error as it is. */
export function refusedWrite(error: unknown): unknown {
  if (error instanceof LastOwner) return conflict('roles', 'One owner must remain: give the role owner to somebody else first.');
  if (error instanceof ManagedByDirectory) return conflict(error.fields[0], 'An LDAP directory manages this: change it there.');
  return isForeignKeyViolation(error) ? notFound('deleted_meanwhile') : error;
}
