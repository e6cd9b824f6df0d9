// Login transactions: one browser on its way through the sign-in pages (design 04), bound to it by the hash of a cookie.
// Steps move by conditional UPDATEs; the finish is one of them (R1). A finished row stays until it is purged.
import { sql } from 'kysely';
import type { LoginMethod } from '../domain/authentication-method.ts';
import type { ApprovalId, ClientId, ServiceProviderId, TenantId, TransactionId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { type Row, statement } from './statement.ts';

export type LoginStep = 'identify' | 'choose' | 'waiting' | 'pin' | 'passkey';
export type LoginResult = 'completed' | 'refused' | 'cancelled';

export interface LoginTransactionTable {
  tenant_id: TenantId;
  id: TransactionId;
  /** oidc | saml */
  kind: string;
  binding_hash: string;
  step: string;
  client_id: ClientId | null;
  service_provider_id: ServiceProviderId | null;
  /** Name of the service provider; a client's is read from its row. */
  display_name: string | null;
  redirect_uri: string | null;
  scope: string | null;
  resource: string | null;
  /** The `state` parameter. */
  request_state: string | null;
  nonce: string | null;
  code_challenge: string | null;
  dpop_jkt: string | null;
  /** Seconds. */
  max_age: number | null;
  acr_values: string | null;
  prompt: string | null;
  login_hint: string | null;
  ui_locales: string | null;
  /** approvals/saml-sign-in: the session's id under the master key. */
  saml_session_sealed: string | null;
  /** As typed, for the page to show. */
  identifier: string | null;
  /** Null before identification, and for an identifier nobody has. */
  user_id: UserId | null;
  /** See ApprovalTable.subject_key. Null before identification. */
  subject_key: string | null;
  /** The mailbox PINs are counted by; see PinTable.mail_key. */
  mail_key: string | null;
  /** JSON list of LoginMethod, what was offered. */
  methods: string;
  approval_id: ApprovalId | null;
  initiated_ip: string | null;
  initiated_user_agent: string | null;
  lifetime_seconds: number;
  created_at: number;
  expires_at: number;
  finished_at: number | null;
  /** completed | refused | cancelled */
  outcome: string | null;
}

export type NewLoginTransaction = Omit<
  LoginTransactionTable,
  | 'tenant_id'
  | 'step'
  | 'identifier'
  | 'user_id'
  | 'subject_key'
  | 'mail_key'
  | 'methods'
  | 'approval_id'
  | 'created_at'
  | 'expires_at'
  | 'finished_at'
  | 'outcome'
>;

const insertStatement = statement(
  (queries, { lifetime_ms, ...row }: Row<NewLoginTransaction & { tenant_id: TenantId; lifetime_ms: number }>) =>
    queries.insertInto('login_transactions').values({
      ...row,
      step: 'identify',
      methods: '[]',
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetime_ms}`,
    }),
);

export async function insertLoginTransaction(queries: Queries, tenant: TenantId, transaction: NewLoginTransaction): Promise<void> {
  await insertStatement(queries, { ...transaction, tenant_id: tenant, lifetime_ms: transaction.lifetime_seconds * 1000 });
}

/** A transaction with its approval and the database's time. */
export type LoginTransactionNow = LoginTransactionTable & {
  readonly now_ms: number;
  readonly approval_state: string | null;
  readonly approval_number: string | null;
  /** The device that scanned the code. */
  readonly approval_claimed_by: string | null;
};

const findStatement = statement((queries, { tenant, id }: { tenant: TenantId; id: TransactionId }) =>
  queries
    .selectFrom('login_transactions as t')
    .leftJoin('approvals as a', (join) => join.onRef('a.tenant_id', '=', 't.tenant_id').onRef('a.id', '=', 't.approval_id'))
    .selectAll('t')
    .select(['a.state as approval_state', 'a.number as approval_number', 'a.claimed_by as approval_claimed_by', databaseNowMs.as('now_ms')])
    .where('t.tenant_id', '=', tenant)
    .where('t.id', '=', id),
);

/** Finds a transaction that is not purged yet, expired and finished ones included. */
export async function findLoginTransaction(queries: Queries, tenant: TenantId, id: string): Promise<LoginTransactionNow | undefined> {
  const { rows } = await findStatement(queries, { tenant, id: id as TransactionId }); // a look-up key, not yet known to be an id
  return rows[0];
}

/** Records who somebody says they are and what is offered to them. False when the sign-in is over. */
export async function identifyLogin(
  queries: Queries,
  tenant: TenantId,
  id: TransactionId,
  subject: {
    readonly identifier: string;
    readonly userId: UserId | undefined;
    readonly subjectKey: string;
    readonly mailKey: string;
    readonly methods: readonly LoginMethod[];
  },
): Promise<boolean> {
  const { rows } = await identifyStatement(queries, {
    tenant,
    id,
    identifier: subject.identifier,
    userId: subject.userId ?? null,
    subjectKey: subject.subjectKey,
    mailKey: subject.mailKey,
    methods: JSON.stringify(subject.methods),
  });
  return rows.length === 1;
}

/** Moves to the step of a chosen method. False when the sign-in is over. */
export async function setLoginStep(
  queries: Queries,
  tenant: TenantId,
  id: TransactionId,
  step: 'waiting' | 'pin' | 'passkey' | 'choose',
  approvalId: ApprovalId | null,
): Promise<boolean> {
  return (await stepStatement(queries, { tenant, id, step, approvalId })).rows.length === 1;
}

interface TransactionKey {
  readonly tenant: TenantId;
  readonly id: TransactionId;
  readonly [name: string]: string | null;
}

interface Identified extends TransactionKey {
  readonly identifier: string;
  readonly userId: UserId | null;
  readonly subjectKey: string;
  readonly mailKey: string;
  readonly methods: string;
}

/** An update of a sign-in that is neither finished nor expired. */
const updateOpen = (queries: Queries, { tenant, id }: TransactionKey) =>
  queries
    .updateTable('login_transactions')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .where('expires_at', '>', databaseNowMs);

const identifyStatement = statement((queries, values: Identified) =>
  updateOpen(queries, values)
    .set({
      step: 'choose',
      identifier: values.identifier,
      user_id: values.userId,
      subject_key: values.subjectKey,
      mail_key: values.mailKey,
      methods: values.methods,
      approval_id: null,
    })
    .returning('id'),
);

const stepStatement = statement((queries, values: TransactionKey & { readonly step: string; readonly approvalId: ApprovalId | null }) =>
  updateOpen(queries, values).set({ step: values.step, approval_id: values.approvalId }).returning('id'),
);

const completeStatement = statement((queries, values: TransactionKey) =>
  updateOpen(queries, values)
    .set({ finished_at: databaseNowMs, outcome: 'completed' })
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('approvals as a')
          .select('a.id')
          .whereRef('a.tenant_id', '=', 'login_transactions.tenant_id')
          .whereRef('a.id', '=', 'login_transactions.approval_id')
          .where('a.state', '=', 'approved'),
      ),
    )
    .returningAll(),
);

/** Ends a transaction whose approval is approved, once (compare-and-set). Undefined for every caller but the first. */
export async function completeLogin(queries: Queries, tenant: TenantId, id: TransactionId): Promise<LoginTransactionTable | undefined> {
  return (await completeStatement(queries, { tenant, id })).rows[0];
}

/** Ends a transaction without a sign-in, once, also after it expired. Undefined for every caller but the first. */
export async function cancelLogin(queries: Queries, tenant: TenantId, id: TransactionId): Promise<LoginTransactionTable | undefined> {
  return queries
    .updateTable('login_transactions')
    .set({ finished_at: databaseNowMs, outcome: 'cancelled' })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Notes that a completed sign-in was refused at the last check. */
export async function markLoginRefused(queries: Queries, tenant: TenantId, id: TransactionId): Promise<void> {
  await queries
    .updateTable('login_transactions')
    .set({ outcome: 'refused' })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}
