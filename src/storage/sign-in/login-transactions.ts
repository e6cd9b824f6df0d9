// Login transactions: one browser on its way through the sign-in pages (design 04), bound to it by the hash of a cookie.
// Steps move by conditional UPDATEs; the finish is one of them (R1). A finished row stays until it is purged.
import { sql } from 'kysely';
import type {
  ApprovalId,
  ClientId,
  IdentityProviderId,
  ServiceProviderId,
  SsoSessionId,
  TenantId,
  TransactionId,
  UserId,
} from '../../domain/ids.ts';
import type { LoginMethod } from '../../domain/sign-in/login-methods.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type Row, statement } from '../engine/statement.ts';
import { holdsApproval } from './approvals.ts';

export interface LoginTransactionTable {
  tenant_id: TenantId;
  id: TransactionId;
  /** oidc | saml */
  kind: string;
  binding_hash: string;
  step: string;
  client_id: ClientId | null;
  /** Instead of client_id, for one by document that is no client yet; rows that are read have it as client_id too. */
  document_client_id: ClientId | null;
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
  /** domain/authorization-response; null is `query`. */
  response_mode: string | null;
  /** JSON of domain/requested-claims. */
  claims: string | null;
  /** acr values, one of which the sign-in must meet; joined by spaces. */
  essential_acr: string | null;
  /** The organisation the request names. */
  organization_id: string | null;
  /** The one a person chose where the request names none. */
  chosen_organization_id: string | null;
  /** approvals/saml-sign-in: the session's id under the master key. */
  saml_session_sealed: string | null;
  /** As typed, for the page to show. */
  identifier: string | null;
  /** Null before identification, and for an identifier nobody has. */
  user_id: UserId | null;
  /** See Approval.subject_key. Null before identification. */
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
  /** `sub` of the request's id_token_hint, or whose session is too old or too weak: nobody else may finish. */
  id_token_hint_user: string | null;
  /** The session of this browser that answers instead of a sign-in. */
  sso_session_id: SsoSessionId | null;
  /** 1: the person chose to sign in as somebody else. */
  sso_declined: number;
  /** 0: not the person's own computer, so the sign-in opens no session. */
  keeps_session: number;
  /** JSON of an ExternalIdentity that came to this sign-in. */
  external_identity: string | null;
  /** The provider that answers for the address that was typed. */
  provider_id: IdentityProviderId | null;
  /** completed | refused | cancelled */
  outcome: string | null;
}

export type LoginTransaction = Readonly<LoginTransactionTable>;

export type NewLoginTransaction = Omit<
  LoginTransaction,
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
  | 'sso_session_id'
  | 'sso_declined'
  | 'keeps_session'
  | 'external_identity'
  | 'provider_id'
  | 'outcome'
>;

const insertStatement = statement(
  (queries, { lifetime_ms, ...row }: Row<NewLoginTransaction & { tenant_id: TenantId; lifetime_ms: number }>) =>
    queries.insertInto('login_transactions').values({
      ...row,
      step: 'identify',
      sso_declined: 0,
      keeps_session: 1,
      methods: '[]',
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetime_ms}`,
    }),
);

export async function insertLoginTransaction(queries: Queries, tenant: TenantId, transaction: NewLoginTransaction): Promise<void> {
  await insertStatement(queries, { ...transaction, tenant_id: tenant, lifetime_ms: transaction.lifetime_seconds * 1000 });
}

/** A transaction with its approval and the database's time. */
export type LoginTransactionNow = LoginTransaction & {
  readonly now_ms: number;
  readonly approval_state: string | null;
  readonly approval_number: string | null;
  /** The device that scanned the code. */
  readonly approval_claimed_by: string | null;
  /** How it did: app | same_browser | browser, which still asks for the number. */
  readonly approval_claimed_as: string | null;
};

const findStatement = statement((queries, { tenant, id }: { tenant: TenantId; id: TransactionId }) =>
  queries
    .selectFrom('login_transactions as t')
    .leftJoin('approvals as a', (join) => join.onRef('a.tenant_id', '=', 't.tenant_id').onRef('a.id', '=', 't.approval_id'))
    .selectAll('t')
    .select(['a.state as approval_state', 'a.number as approval_number', databaseNowMs.as('now_ms')])
    .select(['a.claimed_by as approval_claimed_by', 'a.claimed_as as approval_claimed_as'])
    .where('t.tenant_id', '=', tenant)
    .where('t.id', '=', id),
);

/** Finds a transaction that is not purged yet, expired and finished ones included. */
export async function findLoginTransaction(queries: Queries, tenant: TenantId, id: string): Promise<LoginTransactionNow | undefined> {
  const { rows } = await findStatement(queries, { tenant, id: id as TransactionId }); // a look-up key, not yet known to be an id
  return rows[0] && withClient(rows[0]);
}

const withClient = <T extends LoginTransaction>(row: T): T => ({ ...row, client_id: row.client_id ?? row.document_client_id });

/** A sign-in with the approval that a request has seen it with, and withdrawn: one that another made since would be left on a phone. */
type Seen = Pick<LoginTransaction, 'id' | 'approval_id'>;

/** Records who somebody says they are and what is offered to them. False when the sign-in is over, or has another approval by now. */
export async function identifyLogin(
  queries: Queries,
  tenant: TenantId,
  { id, approval_id: seenApprovalId }: Seen,
  subject: {
    readonly identifier: string;
    readonly userId: UserId | undefined;
    readonly subjectKey: string;
    readonly mailKey: string;
    readonly methods: readonly LoginMethod[];
    /** False: no session is opened in this browser. */
    readonly keepsSession?: boolean;
    /** Who came from another provider; absent: nobody did, and whoever did before is forgotten. */
    readonly externalIdentity?: string;
    /** The provider that answers for the identifier; absent: none does. */
    readonly providerId?: IdentityProviderId | undefined;
  },
): Promise<boolean> {
  const { rows } = await identifyStatement(queries, {
    tenant,
    id,
    seenApprovalId,
    identifier: subject.identifier,
    userId: subject.userId ?? null,
    subjectKey: subject.subjectKey,
    mailKey: subject.mailKey,
    methods: JSON.stringify(subject.methods),
    keepsSession: subject.keepsSession === false ? 0 : 1,
    externalIdentity: subject.externalIdentity ?? null,
    providerId: subject.providerId ?? null,
  });
  return rows.length === 1;
}

/** Whom a sign-in is about. */
type Subject = Seen & Pick<LoginTransaction, 'user_id' | 'subject_key' | 'mail_key'>;

/**
 * Moves to the step of a chosen method, with an approval of the person the sign-in is about. False when it is over, has another approval
 * by now, or is about somebody else: another request of its browser may name another person meanwhile, and what one proves must not let
 * the other in.
 */
export async function setLoginStep(
  queries: Queries,
  tenant: TenantId,
  { id, approval_id: seenApprovalId, user_id: userId, subject_key: subjectKey, mail_key: mailKey }: Subject,
  step: 'waiting' | 'pin' | 'passkey' | 'choose',
  approvalId: ApprovalId | null,
): Promise<boolean> {
  return (await stepStatement(queries, { tenant, id, seenApprovalId, userId, subjectKey, mailKey, step, approvalId })).rows.length === 1;
}

type TransactionKey = { readonly tenant: TenantId; readonly id: TransactionId };
type SeenKey = TransactionKey & { readonly seenApprovalId: ApprovalId | null };

type Identified = SeenKey & {
  readonly identifier: string;
  readonly userId: UserId | null;
  readonly subjectKey: string;
  readonly mailKey: string;
  readonly methods: string;
  readonly keepsSession: number;
  readonly externalIdentity: string | null;
  readonly providerId: IdentityProviderId | null;
};

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
      keeps_session: values.keepsSession,
      external_identity: values.externalIdentity,
      provider_id: values.providerId,
      approval_id: null,
      sso_session_id: null,
      chosen_organization_id: null,
    })
    .where('approval_id', 'is not distinct from', values.seenApprovalId)
    .returning('id'),
);

type Step = SeenKey & {
  readonly userId: UserId | null;
  readonly subjectKey: string | null;
  readonly mailKey: string | null;
  readonly step: string;
  readonly approvalId: ApprovalId | null;
};

const stepStatement = statement((queries, { seenApprovalId, userId, subjectKey, mailKey, step, approvalId, ...key }: Step) =>
  updateOpen(queries, key)
    .set({ step, approval_id: approvalId })
    .where('approval_id', 'is not distinct from', seenApprovalId)
    .where('user_id', 'is not distinct from', userId)
    .where('subject_key', 'is not distinct from', subjectKey)
    .where('mail_key', 'is not distinct from', mailKey)
    .returning('id'),
);

const completeStatement = statement((queries, values: TransactionKey) =>
  updateOpen(queries, values)
    .set({ finished_at: databaseNowMs, outcome: 'completed' })
    .where(holdsApproval(queries, 'login_transactions'))
    .returningAll(),
);

/**
 * Ends a transaction whose approval is approved, once (compare-and-set). Undefined for every caller but the first. Who ends the
 * approval waits for the caller's transaction (revokeGrantsOfUser).
 */
export async function completeLogin(queries: Queries, tenant: TenantId, id: TransactionId): Promise<LoginTransaction | undefined> {
  const row = (await completeStatement(queries, { tenant, id })).rows[0];
  return row && withClient(row);
}

const completeBySessionStatement = statement((queries, values: TransactionKey) =>
  updateOpen(queries, values)
    .set({ finished_at: databaseNowMs, outcome: 'completed' })
    .where('sso_session_id', 'is not', null)
    .returningAll(),
);

/** Ends a transaction that a session answers, once; the caller uses the session up in the same database transaction. */
export async function completeLoginBySession(queries: Queries, tenant: TenantId, id: TransactionId): Promise<LoginTransaction | undefined> {
  const row = (await completeBySessionStatement(queries, { tenant, id })).rows[0];
  return row && withClient(row);
}

/** Answers a sign-in from a session, or (undefined) has the person sign in; nobody has been identified yet. */
export async function setLoginSession(
  queries: Queries,
  tenant: TenantId,
  id: TransactionId,
  session: { readonly id: SsoSessionId; readonly userId: UserId } | undefined,
): Promise<boolean> {
  const rows = await updateOpen(queries, { tenant, id })
    .set({
      sso_session_id: session?.id ?? null,
      user_id: session?.userId ?? null,
      sso_declined: session === undefined ? 1 : 0,
      chosen_organization_id: null,
    })
    .where('step', '=', 'identify')
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Notes the organisation that the person of a sign-in chose; false when it is over, or of somebody else by now. */
export async function setLoginOrganization(
  queries: Queries,
  tenant: TenantId,
  { id, userId, organizationId }: { readonly id: TransactionId; readonly userId: UserId; readonly organizationId: string },
): Promise<boolean> {
  const rows = await updateOpen(queries, { tenant, id })
    .set({ chosen_organization_id: organizationId })
    .where('user_id', '=', userId)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Has the person of a sign-in that was approved so, or answered from a session, choose again what they do for an organisation; false when it is over. */
export async function raiseLogin(
  queries: Queries,
  tenant: TenantId,
  seen: {
    readonly id: TransactionId;
    readonly userId: UserId;
    readonly approvalId: ApprovalId | null;
    readonly sessionId: SsoSessionId | null;
  },
  to: { readonly organizationId: string; readonly methods: readonly LoginMethod[] },
): Promise<boolean> {
  const rows = await updateOpen(queries, { tenant, id: seen.id })
    .set({
      step: 'choose',
      organization_id: to.organizationId,
      chosen_organization_id: null,
      // Nobody else goes on with it.
      id_token_hint_user: seen.userId,
      methods: JSON.stringify(to.methods),
      approval_id: null,
      sso_session_id: null,
    })
    .where('user_id', '=', seen.userId)
    .where('approval_id', seen.approvalId === null ? 'is' : '=', seen.approvalId)
    .where('sso_session_id', seen.sessionId === null ? 'is' : '=', seen.sessionId)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Ends a transaction without a sign-in, once, also after it expired. Undefined for every caller but the first. */
export async function cancelLogin(queries: Queries, tenant: TenantId, id: TransactionId): Promise<LoginTransaction | undefined> {
  const row = await queries
    .updateTable('login_transactions')
    .set({ finished_at: databaseNowMs, outcome: 'cancelled' })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row && withClient(row);
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
