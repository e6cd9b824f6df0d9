// What receivers are told of an audit record, a row a type: the event of CAEP or RISC, and of whom. Types that are not in the table are
// nobody's business but the tenant's.
import type { EventType } from '../contract/events.ts';
import { type SecurityEvent, securityEvents } from '../domain/extending/ssf-stream.ts';
import type { UserId } from '../domain/ids.ts';
import type { NumberedEvent } from '../storage/records/event-feed.ts';

export interface Derived {
  readonly type: SecurityEvent;
  /** The person, when the record names them. */
  readonly userId: UserId | undefined;
  /** The device of the person, when the record names only that. */
  readonly deviceId: string | undefined;
  readonly event: Readonly<Record<string, unknown>>;
  /** The only receiver it is for. */
  readonly client?: string;
  /** The gated receivers that might see a person who is gone. */
  readonly receivers?: readonly string[];
  /** The receivers that did not want to be told of a person who is gone. */
  readonly notTold?: readonly string[];
  /** The version of the person whose main email address changed. */
  readonly emailVersion?: number;
}

interface Rule {
  readonly type: SecurityEvent;
  /** Why, in English, for administrators; CAEP events have it. */
  readonly reason?: string;
  readonly event?: Readonly<Record<string, unknown>>;
}

const session = (reason: string): Rule => ({ type: securityEvents.sessionRevoked, reason });
const credential = (kind: string, change: string, reason: string): Rule => ({
  type: securityEvents.credentialChange,
  reason,
  event: { credential_type: kind, change_type: change },
});

// biome-ignore format: a table, one row a line
const rules = {
  'user.sessions_ended': session('All sessions were ended.'),
  'user.session_ended': session('A session was ended.'),
  'recovery.used': session('All sessions were ended by a recovery.'),
  'recovery.stopped': session('A recovery was stopped, and all sessions ended.'),
  'sso_session.ended': session('A session of a browser was ended by an administrator.'),
  'passkey.added': credential('fido2-platform', 'create', 'A passkey was added.'),
  'passkey.revoked': credential('fido2-platform', 'revoke', 'A passkey was removed.'),
  'device.enrolled': credential('app', 'create', 'A phone was enrolled.'),
  'device.revoked': credential('app', 'revoke', 'A phone was revoked.'),
  'device.keys_rotated': credential('app', 'update', 'A phone has new keys.'),
  'device.key_revoked': credential('app', 'update', 'A key of a phone was revoked.'),
  'user.suspended': { type: securityEvents.accountDisabled },
  'user.activated': { type: securityEvents.accountEnabled },
  'user.deleted': { type: securityEvents.accountPurged },
  'user.email_changed': { type: securityEvents.identifierChanged },
} as const satisfies { readonly [T in EventType]?: Rule };

const isTold = (type: string): type is keyof typeof rules => Object.hasOwn(rules, type);

/** The types of audit records from which these events come. */
export const sourcesOf = (delivered: readonly SecurityEvent[]): readonly string[] =>
  Object.entries(rules).flatMap(([type, rule]) => (delivered.includes(rule.type) ? [type] : []));

/** What there is to tell; undefined: nothing. */
export function derive(row: NumberedEvent): Derived | undefined {
  if (!isTold(row.type)) return undefined;
  const data = JSON.parse(row.data ?? '{}') as Readonly<Record<string, unknown>>; // an object, as every writer stores it
  // Who signs out of one browser says nothing of the others, and a token of ours would end them all.
  if (row.type === 'sso_session.ended' && data['reason'] !== 'administrator') return undefined;
  // A link that nobody used ended nothing.
  if (row.type === 'recovery.stopped' && data['used'] !== true) return undefined;
  const rule: Rule = rules[row.type];
  const { reason, type } = rule;
  const userId = row.user_id ?? undefined;
  const told = reason !== undefined && {
    event_timestamp: Math.floor(row.created_at / 1000),
    initiating_entity: initiatorOf(row.actor, userId),
    reason_admin: { en: reason },
  };
  return {
    type,
    userId,
    deviceId: row.target?.startsWith('device:') === true ? row.target.slice('device:'.length) : undefined,
    event: { ...told, ...rule.event },
    ...(row.type === 'user.session_ended' && { client: String(data['client']) }),
    ...(row.type === 'user.deleted' && { receivers: clientsIn(data, 'receivers'), notTold: clientsIn(data, 'not_told') }),
    ...(row.type === 'user.email_changed' && { emailVersion: Number(data['version']) }),
  };
}

const clientsIn = (data: Readonly<Record<string, unknown>>, name: string) => (data[name] ?? []) as readonly string[]; // as the catalogue says

/** CAEP 1.0, 2: who began it. */
function initiatorOf(actor: string | null, user: UserId | undefined): 'admin' | 'user' | 'system' {
  if (actor === null || actor === 'system') return 'system';
  return actor === `user:${user}` || actor.startsWith('device:') ? 'user' : 'admin';
}
