// The secrets of registered things under the master key (R7), each sealed for the thing it belongs to. Sealed by administration/, opened by
// whoever signs or signs in with one.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { sealedColumns } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';

/** The thing a secret belongs to: its table, its tenant and its id. */
interface SecretOf {
  readonly table: string;
  readonly tenant: TenantId;
  readonly id: string;
}

export const sealSecret = (encryption: KeyEncryption, of: SecretOf, secret: string): string => encryption.encrypt(secret, purposeOf(of));

/** The secret as it was given; throws when it was not sealed for this thing. */
export const openSecret = (encryption: KeyEncryption, of: SecretOf, sealed: string): string =>
  encryption.decrypt(sealed, purposeOf(of)).toString();

function purposeOf({ table, tenant, id }: SecretOf): string {
  const column = sealedColumns.find((one) => one.table === table);
  if (column === undefined) throw new Error(`no secret of ${table} is sealed`);
  return column.purpose(tenant, id);
}
