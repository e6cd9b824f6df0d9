// Account pages that sign a device without a browser in (RFC 8628 3.3): type its code, see who asks, for what and from where, then
// allow or deny. A link with the code in it only fills the field. Wrong codes are counted by person and by address.
import type { FastifyReply } from 'fastify';
import { decideDevice, findDevice, type WaitingDevice } from '../approvals/device-authorization.ts';
import { reject } from '../contract/contract-error.ts';
import { userCodeCharsMax } from '../contract/limits.ts';
import { deviceCodeGrantType } from '../domain/oidc/grant-types.ts';
import { parseUserCode, shownUserCode } from '../domain/sign-in/user-code.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField } from '../first-party/app-page.ts';
import { enforceRateLimit, giveBack } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import { type Html, html } from '../platform/html.ts';
import { deviceSignInTexts } from '../texts/device-sign-in-texts.ts';
import { pageTextsOf, scopeText } from '../texts/pages/page-texts.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, holdSession, pathTo, showPage, signInFirst } from './account-visit.ts';

export function deviceCodePage(visit: AccountVisit): FastifyReply {
  requireDeviceGrant(visit);
  return askForCode(visit, visit.query.get('user_code') ?? '');
}

/** The form for the code; `unknown` says that nothing waits with the code typed. */
function askForCode(visit: AccountVisit, typed: string, unknown = false): FastifyReply {
  const words = deviceSignInTexts[visit.language];
  const content = html`<form class="card" method="post" action="${pathTo(visit, '/device')}">${csrfField(visit.session)}
<p>${words.lead}</p>
<div class="field"><label for="user-code">${words.code}</label><input id="user-code" name="user_code" value="${typed.slice(0, userCodeCharsMax)}" autocomplete="off" autocapitalize="characters" spellcheck="false" required aria-describedby="user-code-hint"><p class="hint" id="user-code-hint">${words.codeHint}</p></div>
<button id="continue">${words.continue}</button></form>`;
  return showPage(visit, words.title, content, unknown ? { notice: { kind: 'bad', text: words.unknown } } : {});
}

/** Shows what waits with the typed code. */
export async function showDevice(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const device = await readDevice(visit, typed);
  if (device === undefined) return askForCode(visit, typed.get('user_code') ?? '', true);
  const words = deviceSignInTexts[visit.language];
  const { authorization, client } = device;
  const code = shownUserCode(authorization.user_code);
  const lines: readonly (readonly [string, Html | string])[] = [
    [words.code, html`<span class="mono">${code}</span>`],
    [words.application, client.name],
    [words.from, authorization.initiated_ip ?? ''],
    [words.device, authorization.initiated_user_agent ?? ''],
    [words.asked, timeOf(visit, authorization.created_at)],
  ];
  const scopes = authorization.scope === '' ? [] : authorization.scope.split(' ');
  const content = html`<form class="card" method="post" action="${pathTo(visit, '/device/decision')}">${csrfField(visit.session)}<input type="hidden" name="user_code" value="${code}">
<p>${words.asks(client.name)}</p>
<dl>${lines.filter(([, value]) => value !== '').map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${scopes.length > 0 && html`<h2>${words.access}</h2><ul>${scopes.map((scope) => html`<li>${scopeText(pageTextsOf(visit.language), scope)}</li>`)}</ul>`}
<p class="muted">${words.care}</p>
<p class="bar"><button id="allow" name="decision" value="allow">${words.allow}</button> <button class="quiet" id="deny" name="decision" value="deny">${words.deny}</button></p></form>`;
  return showPage(visit, words.confirmTitle, content);
}

export async function takeDecision(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const device = await readDevice(visit, typed);
  const words = deviceSignInTexts[visit.language];
  const decided =
    device === undefined
      ? undefined
      : await decideDevice(visit.services, visit.request.tenant, {
          userCode: device.authorization.user_code,
          allow: typed.get('decision') === 'allow',
          user: visit.user,
          signedIn: visit.session,
          holdSession: (queries) => holdSession(queries, visit),
          requestId: visit.request.id,
        });
  if (decided?.ok === false && decided.reason === 'session_ended')
    return signInFirst(visit.services, visit.request, visit.reply, '/device');
  if (decided === undefined || (!decided.ok && decided.reason === 'not_waiting')) return askForCode(visit, '', true);
  if (!decided.ok) return showPage(visit, words.title, html``, { notice: { kind: 'bad', text: words.refused } });
  const isAllowed = typed.get('decision') === 'allow';
  if (isAllowed && device !== undefined)
    visit.services.activity.countSignIn(visit.request.tenant.id, {
      userId: visit.user.id,
      application: ['client', device.client.clientId],
    });
  const text = isAllowed ? words.allowed : words.denied;
  return showPage(visit, words.title, html`<p>${words.close}</p>`, { notice: { kind: 'good', text } });
}

function requireDeviceGrant({ request }: AccountVisit): void {
  if (!request.tenant.settings.extra_grants.includes(deviceCodeGrantType)) throw reject('login.not_found', 'device_grant_off');
}

/** What waits with the typed code. Each attempt is counted before the look-up and given back when it hits. */
async function readDevice(visit: AccountVisit, typed: Typed): Promise<WaitingDevice | undefined> {
  requireDeviceGrant(visit);
  const { services, request, user } = visit;
  const { tenant } = request;
  const keys = [`user ${user.id}`, `address ${addressBlock(request.clientAddress)}`];
  for (const key of keys) await enforceRateLimit(services.rateLimiter, tenant, 'management', 'device_code_misses', key);
  const code = parseUserCode((typed.get('user_code') ?? '').slice(0, userCodeCharsMax));
  const device = code === undefined ? undefined : await services.database.read(tenant.id, (queries) => findDevice(queries, tenant, code));
  if (device === undefined) return undefined;
  for (const key of keys) await giveBack(services.rateLimiter, tenant, 'device_code_misses', key);
  return device;
}
