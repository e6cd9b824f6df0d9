// Whether mails arrive: a code goes to the administrator's own address, and is typed in here. That a server took a mail says nothing of what
// became of it; a link would be opened by programs that look at mails. The code opens nothing. It counts for the way mails go now.
import type { FastifyReply } from 'fastify';
import { recordAct } from '../../administration/administration.ts';
import { queueMessage } from '../../approvals/mailed/mail-delivery.ts';
import { takeTestMail } from '../../approvals/mailed/test-mails.ts';
import { reject } from '../../contract/contract-error.ts';
import { testMailsPerHourMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { meantCode, newTypedCode } from '../../crypto/typed-code.ts';
import type { UserId } from '../../domain/ids.ts';
import { languageFor } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type DeveloperParts, mailboxOf } from '../../http/development.ts';
import type { Parts } from '../../http/services.ts';
import { builtInMessage } from '../../mails/compose.ts';
import { mails } from '../../mails/registry.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listMainEmails } from '../../storage/people/user-lists.ts';
import { findUser } from '../../storage/people/users.ts';
import {
  beginMailTrial,
  findMailArrival,
  findMailTrial,
  type MailTrial,
  mailTrialMinutes,
  redeemMailTrial,
} from '../../storage/records/first-steps.ts';
import { postForm, shownTime } from '../console-page.ts';
import { finish, frameOf, showPage, takeForm, type Visit, visitorOf } from '../console-visit.ts';
import { mayChange, maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';

export type TrialParts = DeveloperParts & Parts<'mail'>;

export const trialPath = '/mail/arrival';
const title = 'See a mail arrive';

/** Tells the way mails go from others, so that another server is tried anew. */
function wayOf({ mail }: Parts<'mail'>, tenant: Tenant): string {
  const { server } = tenant.settings.smtp;
  const { host, port, security, username, from } = server ?? {};
  return hashSecret(JSON.stringify(server === null ? mail.transport : [host, port, security, username, from]));
}

/** When a mail was last seen to arrive by the way mails go now. */
export const findArrival = ({ services, request: { tenant } }: Visit, own: Parts<'mail'>): Promise<number | undefined> =>
  services.database.read(tenant.id, (queries) => findMailArrival(queries, tenant.id, wayOf(own, tenant)));

const trialOf = (visit: Visit, own: Parts<'mail'>): MailTrial => ({
  where: wayOf(own, visit.request.tenant),
  userId: visitorOf(visit) as UserId, // of the access token, which the API took
});

/** The visitor's own address, where they are a person of the tenant. */
async function addressOf(visit: Visit): Promise<string | undefined> {
  const { services, request, isOperator } = visit;
  if (isOperator) return undefined;
  const id = visitorOf(visit) as UserId; // as above
  return (await services.database.read(request.tenant.id, (queries) => listMainEmails(queries, request.tenant.id, [id]))).get(id);
}

export async function trialPage(
  visit: Visit,
  own: TrialParts,
  refused?: { readonly text: string; readonly status: number },
): Promise<FastifyReply> {
  if (!maySee(visit, '/mail')) throw lacking('mail:read');
  const { services, request } = visit;
  const { tenant } = request;
  const address = await addressOf(visit);
  const [arrivedAt, until] = await services.database.read(tenant.id, async (queries) => [
    await findMailArrival(queries, tenant.id, wayOf(own, tenant)),
    await findMailTrial(queries, tenant.id, trialOf(visit, own)),
  ]);
  const content = html`${arrivedAt !== undefined && html`<p class="notice good" id="arrived">A mail arrived ${shownTime(new Date(arrivedAt).toISOString())} by this way.</p>`}
<p>${wayText(visit, own)}</p>${address === undefined ? noAddress(visit) : trialForms(visit, { address, until, isAgain: arrivedAt !== undefined })}`;
  const notice = refused === undefined ? undefined : ({ kind: 'bad', text: refused.text } as const);
  return showPage(visit, title, content, notice, refused === undefined ? {} : { status: refused.status });
}

function wayText(visit: Visit, own: TrialParts): Html {
  const { tenant } = visit.request;
  const { server } = tenant.settings.smtp;
  const mail = html`<a href="${consolePath(tenant, '/mail')}">Mail</a>`;
  if (server !== null) return html`Mails of ${tenant.name} go by <b>${server.host}</b>, which is set under ${mail}.`;
  if (own.mail.transport === 'smtp') return html`Mails go by the server of the deployment. A server of your own is set under ${mail}.`;
  const mailbox = mailboxOf(own, visit.request);
  return html`This server sends no mail. It keeps mails for development${mailbox !== undefined && html`, <a id="mailbox" href="${mailbox}">in its mailbox</a>`}. To send real mails, the operator sets <code>GATEHOUSE_SMTP_URL</code>, or you add a server under ${mail}.`;
}

const noAddress = (visit: Visit): Html =>
  html`<p class="notice partly" id="no-address">${visit.isOperator ? 'A mail goes to an administrator of this tenant, who types its code in here: you are here as an operator.' : 'Your account has no main email address, so there is nowhere to send a mail to.'}</p>`;

interface Forms {
  readonly address: string;
  readonly until: number | undefined;
  readonly isAgain: boolean;
}

function trialForms(visit: Visit, { address, until, isAgain }: Forms): Html {
  const frame = frameOf(visit);
  const send = postForm(
    frame,
    { path: trialPath },
    html`<h2>${until === undefined ? 'Send a mail' : 'Nothing came?'}</h2><p>It goes to <b>${address}</b>, your own address, with a code to type in here.${until !== undefined && ' The code of the one before ends with it. Look among unwanted mails first.'}</p>`,
    html`<button id="send"${(until !== undefined || isAgain) && html` class="quiet"`}>${until === undefined ? 'Send' : 'Send another'}</button>`,
  );
  if (until === undefined) return send;
  const code = postForm(
    frame,
    { path: `${trialPath}/code` },
    html`<h2>The code in it</h2><div class="field"><label for="code">Code</label><input id="code" name="code" required maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="XXXXX-XXXXX"></div><p class="muted">It counts for ${minutesText((until - visit.services.clock.nowMs()) / 60_000)} more.</p>`,
    html`<button id="it-arrived">It arrived</button>`,
  );
  return html`${code}${send}`;
}

/** Rounded up. */
function minutesText(count: number): string {
  const minutes = Math.max(1, Math.ceil(count));
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}

export async function sendTrial(visit: Visit, own: TrialParts): Promise<FastifyReply> {
  if (!mayChange(visit, '/mail')) throw lacking('mail:write');
  const { services, request } = visit;
  const { tenant } = request;
  const to = await addressOf(visit);
  if (to === undefined) return trialPage(visit, own, { text: 'There is nowhere to send a mail to.', status: 409 });
  await takeForm(visit);
  const code = newTypedCode();
  const taken = await services.database.write(tenant.id, async (queries) => {
    const budget = await takeTestMail(queries, tenant);
    if (budget !== 'taken') return budget;
    const trial = trialOf(visit, own);
    const language = languageFor(await findUser(queries, tenant.id, trial.userId), request.headers['accept-language']);
    const letter = mails.trial.make({ code, tenantName: tenant.name, minutes: mailTrialMinutes, language }, to);
    await beginMailTrial(queries, tenant.id, trial, hashSecret(meantCode(code)));
    await queueMessage(queries, { ...services, mail: own.mail }, tenant, builtInMessage(letter, tenant));
    await recordTrial(visit, queries, trial, 'queued');
    return budget;
  });
  if (taken === 'taken') return finish(visit, trialPath, `A mail is on its way to ${to}. Type its code in.`);
  return trialPage(visit, own, {
    text: `A tenant sends ${testMailsPerHourMax} tests of mails an hour. Try again in ${minutesText(taken / 60)}.`,
    status: 429,
  });
}

export async function takeCode(visit: Visit, own: TrialParts, typed: Typed): Promise<FastifyReply> {
  if (!mayChange(visit, '/mail')) throw lacking('mail:write');
  const { services, request } = visit;
  const { id } = request.tenant;
  const codeHash = hashSecret(meantCode(typed.get('code') ?? ''));
  const trial = trialOf(visit, own);
  const isIt = await services.database.write(id, async (queries) => {
    const isRedeemed = await redeemMailTrial(queries, id, trial, codeHash);
    if (isRedeemed) await recordTrial(visit, queries, trial, 'arrived');
    return isRedeemed;
  });
  if (!isIt) return trialPage(visit, own, { text: 'That is not the code of the last mail, or its time is over.', status: 400 });
  return finish(visit, trialPath, 'Mails arrive.');
}

/** Writes what became of one, which goes to whoever sends it. */
const recordTrial = ({ services, request }: Visit, queries: Queries, { userId }: MailTrial, outcome: 'arrived' | 'queued'): Promise<void> =>
  recordAct(
    queries,
    services,
    request.tenant.id,
    { actor: `user:${userId}`, requestId: request.id },
    { type: 'mail.tested', target: `user:${userId}`, data: { kind: 'trial', outcome } },
  );

const lacking = (expected: 'mail:read' | 'mail:write'): Error =>
  reject('management.forbidden', { reason: 'missing_capability', expected }, { text: `This takes ${expected}.` });
