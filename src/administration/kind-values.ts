// Values of registered things with their secrets (design 17): what is given is read here, its secret apart, judged by where it would go, and
// sealed as it is stored.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { type Fields, type Json, overlay, type ValuesOf } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { type Kind, secretNameOf, type Thing } from '../domain/kind.ts';
import { takeRandom } from '../platform/random.ts';
import { sealSecret } from '../tokens/kind-secret.ts';

/** Of random bytes in a secret that is made. */
const secretBytes = 32;

interface Sealing {
  readonly encryption: KeyEncryption;
  readonly tenant: TenantId;
}

/** Values with the secret beside them, as it was given: undefined leaves it alone, null takes it away. */
export interface Wanted<T extends Fields> {
  readonly values: ValuesOf<T>;
  readonly clear: string | null | undefined;
}

/** What is given, laid over the values before or the defaults; the secret stays beside them. */
export function wantedOf<T extends Fields>(kind: Kind<T>, given: Json, base: ValuesOf<T> | undefined, before?: ValuesOf<T>): Wanted<T> {
  const { [secretNameOf(kind)]: own, ...others } = given;
  const { inside } = kind.secret ?? {};
  const parted = inside === undefined || others[inside.name] === undefined ? undefined : inside.part(others[inside.name]);
  const values = overlay(kind.fields, { ...others, ...(parted && { [inside!.name]: parted.value }) }, base);
  const clear = (parted?.secret ?? own) as Wanted<T>['clear']; // of the shape
  // One that is made here is not taken away, but replaced.
  const isLeft = clear === null && kind.secret?.made !== undefined;
  return { values: kind.complete?.(values, given, before) ?? values, clear: isLeft ? undefined : clear };
}

/** What is wrong with a secret that stays: it would be told to a stranger, or as somebody else's. */
export function movedSecret<T extends Fields>({ secret }: Kind<T>, before: Thing<T>, { values, clear }: Wanted<T>) {
  if (secret?.goesTo === undefined || clear !== undefined || (before as Json)[secret.key] === undefined) return undefined;
  const [was, is] = [secret.goesTo(before), secret.goesTo(values)];
  return was.length === is.length && was.every((one, at) => one === is[at]) ? undefined : secret.again?.(values);
}

/** A new secret, where the kind makes them. */
export const makeSecret = <T extends Fields>({ secret }: Kind<T>): string | undefined => secret?.made?.make(takeRandom(secretBytes));

/** The secret as it is stored, by its key. */
export function secretOf<T extends Fields>(
  kind: Kind<T>,
  { encryption, tenant }: Sealing,
  id: string,
  clear: string | undefined,
): Partial<ValuesOf<T>> {
  if (kind.secret === undefined) return {};
  const of = { table: kind.plural, tenant, id };
  const sealed = clear === undefined ? undefined : sealSecret(encryption, of, clear);
  return { [kind.secret.key]: sealed } as Partial<ValuesOf<T>>; // a text, as secrets are
}

/** The secret after a change: as it was, or another, which ends the one before at once. */
export function changedSecret<T extends Fields>(
  kind: Kind<T>,
  sealing: Sealing,
  before: Thing<T>,
  clear: Wanted<T>['clear'],
): Partial<ValuesOf<T>> {
  if (kind.secret === undefined) return {};
  const { key, made } = kind.secret;
  if (clear === undefined) return { [key]: (before as Json)[key] } as Partial<ValuesOf<T>>; // of its own field
  const previous = made && { [made.previous.key]: undefined, [made.previous.untilMs]: undefined };
  return { ...previous, ...secretOf(kind, sealing, before.id, clear ?? undefined) };
}
