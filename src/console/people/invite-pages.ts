// Inviting people by their addresses: who has one is invited again, for the others a person is made. By mail, or as links to copy,
// which the page shows for ten minutes.
import type { FastifyReply } from 'fastify';
import { invitedAtOnceMax, linksAtOnceMax } from '../../contract/limits.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, linesOf, renderFields } from '../../first-party/form-field.ts';
import { html } from '../../platform/html.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, type Refused, refusalText, refusedField, showPage, type Visit } from '../console-visit.ts';
import { secretOf, secretPanel } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';

const users = consoleResource('/users');
const path = `${users.path}/invite`;
const kind = 'invited';
const failuresTold = 3;
const field: FormField = {
  path: 'emails',
  label: 'Email addresses',
  kind: 'lines',
  hint: `One a line, ${invitedAtOnceMax} at most. Each gets a link, which works once, by which they add a passkey or phone.`,
};

export function invitePage(visit: Visit, typed?: Typed, refused?: Refused): FastifyReply {
  const { canMail } = visit.request.tenant;
  const links = secretOf(visit, kind);
  return showPage(
    visit,
    'Invite people',
    html`${secretPanel(links, 'Each link works once, for the person of that address: hand it to nobody else. This page shows them for ten minutes.')}
<p class="muted">Many people with names, groups and roles: <a class="button quiet" id="spreadsheet" href="${consolePath(visit.request.tenant, '/users/spreadsheet')}">From a spreadsheet</a></p>
<form class="card" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}
${renderFields([field], {}, typed, refused?.fault)}${!canMail && html`<p>This server cannot send mail: you get links to copy, for ${String(linksAtOnceMax)} addresses at once.</p>`}
<div class="bar end">${canMail && html`<button id="invite" name="by" value="mail">Invite by mail</button>`}<button id="invite-link" name="by" value="link"${canMail && html` class="quiet"`}>Make links to copy</button> <a class="button quiet" href="${consolePath(visit.request.tenant, users.path)}">Cancel</a></div></form>`,
    refused?.notice,
  );
}

/** Invites each address; what became of none of them is told at the field. */
export async function invitePeople(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const emails = [...new Set(linesOf(typed.get(field.path) ?? ''))];
  const byMail = typed.get('by') === 'mail';
  const most = byMail ? invitedAtOnceMax : linksAtOnceMax;
  const refuse = (why: string): FastifyReply => invitePage(visit, typed, refusedField({ field, text: why }));
  if (emails.length === 0) return refuse('Type an address.');
  if (emails.length > most) return refuse(`${most} at most at once${byMail ? '' : ' as links'}, ${emails.length} are here.`);
  const people = emails.map((email) => ({ emails: [{ value: email, primary: true }] }));
  const answer = await manage(visit, 'POST', '/invitations', { people, invite: byMail ? 'mail' : 'link' });
  if (answer.status !== 200) return refuse(refusalText(answer));
  const outcomes = itemsOf(answer) as unknown as readonly Outcome[]; // the API's shape
  const failed = emails.flatMap((email, index) => {
    const fault = outcomes[index]?.fault ?? undefined;
    return fault === undefined ? [] : [[email, fault.message] as const];
  });
  const links = emails.flatMap((email, index) => {
    const url = outcomes[index]?.invitation_url ?? undefined;
    return url === undefined ? [] : [[email, url] as const];
  });
  const invited = emails.length - failed.length;
  const told = failed.slice(0, failuresTold).map(([email, why]) => `${email}: ${why}`);
  const wrong = [...told, ...(failed.length > told.length ? [`${failed.length - told.length} more.`] : [])].join(' ');
  if (invited === 0) return refuse(wrong);
  const who = invited === 1 && failed.length === 0 ? `${emails[0]} was` : `${invited} ${invited === 1 ? 'person was' : 'people were'}`;
  const done = `${who} invited${byMail ? ' by mail' : ''}.${wrong === '' ? '' : ` Not invited: ${wrong}`}`;
  return finish(visit, byMail ? users.path : path, done, byMail ? undefined : { kind, items: links });
}

interface Outcome {
  readonly invitation_url: string | null;
  readonly fault: { readonly message: string } | null;
}
