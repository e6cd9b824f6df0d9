// What happened to the account lately, in plain words: audit records about the person, newest first. A type of record without
// words here is not shown.
import type { FastifyReply } from 'fastify';
import type { EventType } from '../contract/events.ts';
import { accountListRows } from '../contract/limits.ts';
import { type Html, html } from '../platform/html.ts';
import { findTargetNames, listOwnActivity } from '../storage/people/own-account.ts';
import type { StoredAuditEvent } from '../storage/records/audit-events.ts';
import type { AccountTexts } from '../texts/account/account-texts.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, pathTo, showPage } from './account-visit.ts';

type Sentence = (words: AccountTexts, app: string) => string;

const sentences: { readonly [T in EventType]?: Sentence } = {
  'login.finished': (words, app) => words.eventSignedIn(app),
  'login.refused': (words, app) => words.eventSignInRefused(app),
  'login.cancelled': (words, app) => words.eventSignInCancelled(app),
  'device_authorization.approved': (words, app) => words.eventSignedIn(app),
  'device_authorization.denied': (words, app) => words.eventSignInCancelled(app),
  'pin.failed': (words) => words.eventWrongCode,
  'pin.locked': (words) => words.eventCodeLocked,
  'recovery_code.failed': (words) => words.eventWrongCode,
  'recovery_code.locked': (words) => words.eventCodeLocked,
  'recovery_code.used': (words) => words.eventRecoveryCodeUsed,
  'recovery.created': (words) => words.eventRecoveryMade,
  'recovery.used': (words) => words.eventRecoveryUsed,
  'recovery.stopped': (words) => words.eventRecoveryStopped,
  'recovery_codes.made': (words) => words.eventRecoveryCodesMade,
  'passkey.failed': (words) => words.eventPasskeyFailed,
  'passkey.added': (words) => words.eventPasskeyAdded,
  'passkey.renamed': (words) => words.eventPasskeyRenamed,
  'passkey.revoked': (words) => words.eventPasskeyRemoved,
  'external_identity.linked': (words) => words.eventLinkAdded,
  'external_identity.removed': (words) => words.eventLinkRemoved,
  'approval.approved': (words) => words.eventApproved,
  'approval.denied': (words) => words.eventDenied,
  'user.sign_ins_blocked': (words) => words.eventBlocked,
  'device.enrolled': (words) => words.eventDeviceAdded,
  'device.renamed': (words) => words.eventDeviceRenamed,
  'device.revoked': (words) => words.eventDeviceRemoved,
  'enrollment_token.created': (words) => words.eventEnrollmentMade,
  'user.created': (words) => words.eventAccountMade,
  'user.signed_up': (words) => words.eventAccountMade,
  'user.updated': (words) => words.eventProfileChanged,
  'user.suspended': (words) => words.eventSuspended,
  'user.activated': (words) => words.eventActivated,
  'user.session_ended': (words) => words.eventSessionEnded,
  'sso_session.ended': (words) => words.eventSessionEnded,
  'user.sessions_ended': (words) => words.eventSessionsEnded,
  'admin.created': (words) => words.eventBecameAdministrator,
  'admin.recovered': (words) => words.eventLetInAgain,
};

export async function activityPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words, query } = visit;
  const { tenant } = request;
  const { rows, names } = await services.database.read(tenant.id, async (queries) => {
    const page = { before: query.get('before') ?? '', limit: accountListRows + 1, types: Object.keys(sentences) };
    const found = await listOwnActivity(queries, tenant.id, user.id, page);
    return {
      rows: found,
      names: await findTargetNames(
        queries,
        tenant.id,
        found.map(({ target }) => target ?? ''),
      ),
    };
  });
  const shown = rows.slice(0, accountListRows);
  return showPage(
    visit,
    words.activity,
    html`<p class="muted">${words.activityLead}</p>
${shown.length === 0 ? html`<p id="none">${words.noActivity}</p>` : html`<ol class="events card">${shown.map((row) => eventItem(visit, row, names))}</ol>`}
${rows.length > accountListRows && html`<p><a class="button quiet" id="next" href="${pathTo(visit, '/activity')}?before=${shown.at(-1)?.id ?? ''}">${words.older}</a></p>`}`,
  );
}

function eventItem(visit: AccountVisit, row: StoredAuditEvent, names: ReadonlyMap<string, string>): Html {
  const { words } = visit;
  const text = sentences[row.type as EventType]?.(words, names.get(row.target ?? '') ?? words.removedApp) ?? ''; // rows of these types were asked for
  const from = ipOf(row.data);
  return html`<li><span>${text}${isByOthers(visit, row) && html` <span class="muted">(${words.byAdministration})</span>`}</span>
<span class="muted">${timeOf(visit, row.created_at)}${from !== undefined && html` · ${from}`}</span></li>`;
}

/** The person did it, or one of their devices; the rest is done by administrators or systems of theirs. */
function isByOthers({ user }: AccountVisit, { actor }: StoredAuditEvent): boolean {
  return actor !== null && actor !== `user:${user.id}` && !actor.startsWith('device:');
}

function ipOf(data: string | null): string | undefined {
  const ip = data === null ? undefined : (JSON.parse(data) as Readonly<Record<string, unknown>>)['ip']; // an object, as it was written
  return typeof ip === 'string' ? ip : undefined;
}
