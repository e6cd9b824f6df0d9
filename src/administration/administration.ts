// What the operations of this folder need: given by a running server (its Services have it all) and by commands alike.
// The folder holds what the management API, the system API, the command line and the first start do in common.
import type { TypedEvent } from '../contract/events.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Capability } from '../domain/people/capabilities.ts';
import type { Clock } from '../platform/clock.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';

export interface Administration {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** Whether a mail reaches somebody. */
  readonly canMail: boolean;
}

/** Who does it, for the audit record in the transaction of the effect. */
export interface By {
  readonly actor: string;
  readonly requestId?: string | undefined;
  /**
   * Refuses what they do not hold themselves, by throwing: a thing hands out no more than its maker may have. Absent for the operator's own
   * hand: documents and the command line.
   */
  readonly require?: (needs: readonly Capability[]) => void;
}

/** Writes the audit record of an administrative act. */
export async function recordAct(
  queries: Queries,
  { clock }: Pick<Administration, 'clock'>,
  tenant: TenantId,
  by: By,
  act: TypedEvent & { readonly target: string },
): Promise<void> {
  await insertAuditEvent(queries, tenant, clock.nowMs(), { ...act, ...by });
}
