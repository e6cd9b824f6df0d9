// What a kind of registered thing does besides its rows (design 17), in the transaction of what is done to one, and who does it. Which kind
// does what is in registered.ts; when it is asked, in kinds.ts.
import type { Fields, ValuesOf } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import type { KindFault, Thing } from '../domain/kind.ts';
import type { Capability } from '../domain/people/capabilities.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Queries } from '../storage/engine/database.ts';
import type { Administration, By } from './administration.ts';

export interface Acting {
  readonly tenant: Tenant;
  readonly by: By;
  /** The customer it is made for, where it is one's own from the beginning. */
  readonly organization?: string | undefined;
}

export interface Writing {
  /** Whether a document that leaves other things out says this one. */
  readonly keeps?: (plural: string, id: string) => boolean;
  readonly store: Pick<KindStore, 'clock' | 'database' | 'encryption'>;
  readonly acting: Pick<Acting, 'tenant' | 'by' | 'organization'>;
}

export type KindStore = Pick<Administration, 'cache' | 'clock' | 'database' | 'encryption'>;

/** Asked of a thing as it was written; undefined: it was deleted. */
export type Verdict<Written> = (after: Written | undefined) => Promise<KindFault | undefined>;

/** What a kind does besides, in the transaction of what is done to it. */
export interface Effects<T extends Fields = Fields, Id extends string = string> {
  /** Before the transaction that makes one. */
  prepare?(store: Pick<KindStore, 'database'>, tenant: TenantId): Promise<void>;
  /** What is waited for before a thing that is there: whoever writes both takes them in this order. */
  first?(queries: Queries, tenant: TenantId, id: string): Promise<void>;
  /** What is wrong with values beyond the rules of the kind; what is new must be good at that time. */
  reading?(values: ValuesOf<T>, before: Thing<T> | undefined, nowMs: number): KindFault | undefined;
  /** What is wrong with values beside what else is stored, for whoever writes no document. */
  fault?(queries: Queries, tenant: TenantId, values: ValuesOf<T>, before: Thing<T, Id> | undefined): Promise<KindFault | undefined>;
  /** Instead of the count of all there are: why there is no room for one more. Whoever makes one waits for others who do. */
  room?(queries: Queries, acting: Writing['acting'], values: ValuesOf<T>): Promise<KindFault | undefined>;
  /** What it hands out by what names it: held before and after, as what the kind itself says. */
  needs?(queries: Queries, tenant: TenantId, values: ValuesOf<T>): Promise<readonly Capability[]>;
  /** Values of our own that follow from a change. */
  settle?(values: ValuesOf<T>, before: Thing<T, Id>): ValuesOf<T>;
  /** What a new one has beside its row, before its audit record, which it may be the first to be told of. */
  added?(queries: Queries, writing: Writing, thing: Thing<T, Id>): Promise<void>;
  /** What follows from a change, after its audit record. */
  changed?(queries: Queries, writing: Writing, before: Thing<T, Id>, after: Thing<T, Id>): Promise<void>;
  /**
   * What its writing must leave to others, asked of the state before: what it gives is asked of the state after, whoever wrote it. A fault
   * then undoes all that was written.
   */
  guard?(queries: Queries, tenant: TenantId, before: Thing<T, Id> | undefined): Promise<Verdict<Thing<T>>>;
  /** Instead of the deletion of its row; a fault keeps it. */
  remove?(queries: Queries, tenant: TenantId, thing: Thing<T, Id>, writing: Writing): Promise<KindFault | boolean>;
}
