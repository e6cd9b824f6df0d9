// A unique value is taken: the transaction that found out must not commit, so it is thrown inside and told outside.
import type { Fields, Json, ValuesOf } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { type Kind, type KindFault, nameOfField, type Thing } from '../domain/kind.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { isUniqueViolation, ValueTaken } from '../storage/engine/unique-violation.ts';
import { ManagedByDirectory } from '../storage/people/directories/ldap-people.ts';
import type { KindRows } from '../storage/registry/kind-rows.ts';
import { lockTenantSettings } from '../storage/registry/tenants.ts';

/** What was written takes from others what they need, as its fault says: thrown inside a transaction, told outside. */
export class WriteRefused extends Error {
  readonly fault: KindFault;
  constructor(fault: KindFault) {
    super(fault.text);
    this.name = 'WriteRefused';
    this.fault = fault;
  }
}

/** Why a write was refused because of what others need or say; undefined for any other error. */
export function refusedText(error: unknown): string | undefined {
  if (error instanceof WriteRefused) return error.fault.text;
  return error instanceof ManagedByDirectory ? `an LDAP directory manages ${error.fields.join(', ')}: change it there` : undefined;
}

type Rows<T extends Fields> = { readonly kind: Kind<T>; readonly rows: KindRows<T> };

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

/** The value of another thing that these values would take. */
export async function takenOf<T extends Fields>(
  { kind, rows }: Rows<T>,
  queries: Queries,
  tenant: TenantId,
  values: ValuesOf<T>,
  before: Thing<T> | undefined,
): Promise<KindFault | undefined> {
  for (const [key, text] of kind.unique) {
    const value = (values as Json)[key];
    if (value === undefined || value === (before as Json | undefined)?.[key]) continue;
    const other = await rows.findBy(queries, tenant, key, value);
    if (other !== undefined && other.id !== before?.id) return { field: nameOfField(kind, key), text, is: 'taken' };
  }
  return undefined;
}

/** The same for values with several spellings, which no index compares: whoever writes one waits for others who do. */
export async function spelledTaken<T extends Fields>(
  { kind, rows }: Rows<T>,
  queries: Queries,
  { dialect, tenant }: { readonly dialect: Database['dialect']; readonly tenant: TenantId },
  values: Partial<ValuesOf<T>>,
  before: { readonly id: string } | undefined,
): Promise<KindFault | undefined> {
  const [key, text] = kind.unique[0]!;
  const value = (values as Json)[key];
  if (kind.spellings === undefined || value === undefined) return undefined;
  await lockTenantSettings(queries, dialect, tenant);
  if (before !== undefined && ((await rows.find(queries, tenant, before.id)) as Json | undefined)?.[key] === value) return undefined;
  const alike = await rows.findAny(queries, tenant, { ids: [], key, values: kind.spellings(String(value)) });
  return alike.some(({ id }) => id !== before?.id) ? { field: nameOfField(kind, key), text, is: 'taken' } : undefined;
}

/** For whoever lost a race: nobody knows which value, so the first one is told. */
export function firstTaken(kind: Pick<Kind, 'unique' | 'fields'>, field?: string): KindFault {
  const isOther = field !== undefined && Object.values(kind.fields).some(({ name }) => name === field);
  const named = kind.unique.find(([name]) => name === field);
  if (named === undefined && isOther) return { field, text: 'It is in use.', is: 'taken' };
  const [key, text] = named ?? kind.unique[0] ?? ['', 'The name is in use.'];
  return { field: kind.fields[key]?.name ?? key, text, is: 'taken' };
}
