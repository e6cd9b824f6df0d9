// A unique value is taken: the transaction that found out must not commit, so it is thrown inside and told outside.
import { fail, type Outcome } from '../domain/outcome.ts';
import { isUniqueViolation, ValueTaken } from '../storage/engine/unique-violation.ts';

/** Runs a transaction; gives `taken` with the field for ValueTaken, and with `constrained` for a unique violation of an update. */
export async function unlessTaken<Value>(
  constrained: string,
  transaction: () => Promise<Value>,
): Promise<Outcome<{ readonly value: Value }, 'taken'> & { readonly field?: string }> {
  try {
    return { ok: true, value: await transaction() };
  } catch (error) {
    if (error instanceof ValueTaken) return { ...fail('taken'), field: error.field };
    if (isUniqueViolation(error)) return { ...fail('taken'), field: constrained };
    throw error;
  }
}
