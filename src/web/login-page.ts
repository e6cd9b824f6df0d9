// The sign-in pages, one body per state (design 04, Pages). Forms only; ids are stable, because people's password managers
// and certification browsers rely on them. Says who asks, what, where from and when; declining is as easy as approving.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import { identifierCharsMax } from '../contract/limits.ts';
import type { LoginMethod } from '../domain/authentication-method.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { icons } from '../http/pages/icons.ts';
import { type Messages, messagesOf, scopeText } from '../http/pages/messages.ts';
import { type Page, renderPage } from '../http/pages/page.ts';
import { type Html, html } from '../platform/html.ts';
import type { LoginCode } from './login-code.ts';
import { loginScript } from './login-script.ts';
import type { LoginNow, LoginState } from './login-view.ts';
import { passkeySignInScript } from './passkey-script.ts';
import { qrCode } from './qr-code.ts';

interface Context {
  readonly login: LoginNow;
  readonly messages: Messages;
  readonly language: Language;
  readonly path: string;
  readonly alert: string | undefined;
  /** What a phone may scan or open instead of typing the number. */
  readonly scan: { readonly uri: string; readonly image: Html } | undefined;
}

interface Content {
  readonly title: string;
  readonly body: Html;
  readonly reloadSeconds?: number;
  /** True: the page needs the script that speaks to the authenticator. */
  readonly withPasskey?: boolean;
}

/** The page of the state a sign-in is in. `?step=identify` and `?step=choose` go back without losing anything. */
export async function loginPage(request: FastifyRequest, login: LoginNow, code: LoginCode | undefined): Promise<Page> {
  if (code === undefined) return render(request, login, {});
  const { qrLabel } = messagesOf(languageOf(request, login));
  return render(request, login, { scan: { uri: code.uri, image: await qrCode(code.uri, qrLabel) } });
}

/** The same page with what went wrong, for posts that were refused. */
export function loginErrorPage(answer: Answer, request: FastifyRequest, login: LoginNow): Page {
  const messages = messagesOf(languageOf(request, login));
  return render(request, login, { alert: alertOf(messages, answer) });
}

const languageOf = (request: FastifyRequest, { row }: LoginNow): Language =>
  negotiateLanguage(row.ui_locales, request.headers['accept-language']);

function render(request: FastifyRequest, login: LoginNow, { alert, scan }: Partial<Pick<Context, 'alert' | 'scan'>>): Page {
  const language = languageOf(request, login);
  const path = `${new URL(login.tenant.baseUrl).pathname.replace(/\/$/, '')}/login/${login.row.id}`;
  const context: Context = { login, messages: messagesOf(language), language, path, alert, scan };
  const { step } = request.query as { step?: unknown }; // a parsed query string; compared below
  const content = bodies[shownState(login, step)](context);
  const script = content.withPasskey === true ? `${loginScript}${passkeySignInScript}` : loginScript;
  return renderPage({ ...content, language, tenant: login.tenant, script });
}

type ShownState = LoginState | 'passkey';

function shownState({ state, row }: LoginNow, step: unknown): ShownState {
  const mayGoBack = state === 'choose' || state === 'waiting' || state === 'pin';
  if (mayGoBack && step === 'identify') return 'identify';
  if (mayGoBack && step === 'choose') return 'choose';
  return state === 'choose' && row.step === 'passkey' ? 'passkey' : state;
}

function alertOf(messages: Messages, { body, headers, status }: Answer): string {
  const seconds = Number(headers['retry-after'] ?? 1);
  switch (body['error']) {
    case 'pin_invalid':
      return messages.wrongPin(Number(body['attempts_left']));
    case 'pin_locked':
      return messages.lockedPin;
    case 'pin_expired':
      return messages.expiredPin;
    case 'unauthorized':
      return messages.passkeyRefused;
    case 'cooldown_active':
      return messages.cooldown(seconds);
    case 'rate_limited':
      return messages.waitSeconds(seconds);
    case 'invalid_request':
      return badFieldText(messages, body['kind']);
    default:
      return status === 403 ? messages.errorForbidden : messages.errorServer;
  }
}

function badFieldText(messages: Messages, field: unknown): string {
  if (field === 'identifier') return messages.badIdentifier;
  if (field === 'pin') return messages.badPin;
  return field === 'response' ? messages.passkeyRefused : messages.errorClient;
}

const bodies: Readonly<Record<ShownState, (context: Context) => Content>> = {
  identify: identifyBody,
  choose: chooseBody,
  waiting: waitingBody,
  pin: pinBody,
  passkey: passkeyBody,
  approved: approvedBody,
  denied: deniedBody,
  expired: expiredBody,
  finished: finishedBody,
};

const alertBox = ({ alert }: Context): Html | undefined =>
  alert === undefined ? undefined : html`<div class="alert" id="alert" role="alert">${alert}</div>`;

/** A sentence with the name in it set in bold, wherever the language puts it. */
function withName(sentence: (name: string) => string, name: string): Html {
  const [before, after] = sentence('\0').split('\0');
  return html`${before}<b>${name}</b>${after}`;
}

const cancelForm = ({ path, messages }: Context): Html =>
  html`<form method="post" action="${path}/cancel"><button class="link" id="cancel">${messages.cancel}</button></form>`;

function whoLine({ login, path, messages }: Context): Html | undefined {
  const { identifier } = login.row;
  if (identifier === null) return undefined;
  return html`<div class="who"><span title="${identifier}">${identifier}</span><a href="${path}?step=identify" aria-label="${messages.notYou}: ${identifier}">${messages.notYou}</a></div>`;
}

const otherWay = ({ login, path, messages }: Context): Html | undefined =>
  login.methods.length > 1 ? html`<a class="button link" href="${path}?step=choose">${messages.otherWay}</a>` : undefined;

function identifyBody(context: Context): Content {
  const { login, messages, path, alert } = context;
  const value = login.row.identifier ?? login.row.login_hint ?? '';
  return {
    title: messages.signIn,
    body: html`<h1>${messages.signIn}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${alertBox(context)}
<form method="post" action="${path}/identify">
<label for="identifier">${messages.identifier}</label>
<input id="identifier" name="identifier" type="text" value="${value}" required maxlength="${identifierCharsMax}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" inputmode="email" autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}>
<button id="continue">${messages.continue}</button>
</form>
<div class="foot">${cancelForm(context)}</div>`,
  };
}

function chooseBody(context: Context): Content {
  const { login, messages, path } = context;
  const choices: Readonly<Record<LoginMethod, { id: string; icon: Html; text: string; hint: string }>> = {
    phone: { id: 'use-phone', icon: icons.phone, text: messages.phone, hint: messages.phoneHint },
    passkey: { id: 'use-passkey', icon: icons.key, text: messages.passkey, hint: messages.passkeyHint },
    email_pin: { id: 'use-email', icon: icons.mail, text: messages.email, hint: messages.emailHint },
  };
  const choice = (method: LoginMethod): Html => {
    const { id, icon, text, hint } = choices[method];
    const passkey = method === 'passkey' && passkeyMarks(messages);
    return html`<form method="post" action="${path}/method"${passkey}><input type="hidden" name="method" value="${method}"><button class="choice" id="${id}">${icon}<span>${text}<small>${hint}</small></span></button></form>`;
  };
  const withPasskey = login.methods.includes('passkey');
  return {
    title: messages.chooseTitle,
    withPasskey,
    body: html`<h1>${messages.chooseTitle}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${whoLine(context)}
${alertBox(context)}
${withPasskey && passkeyParts(context)}
${login.methods.length === 0 && html`<div class="alert" role="alert">${messages.noMethod}</div>`}
<div class="stack">${login.methods.map(choice)}</div>
<div class="foot">${cancelForm(context)}</div>`,
  };
}

/** What the script reads from the form that starts it. */
const passkeyMarks = (messages: Messages): Html =>
  html` data-passkey data-unsupported="${messages.passkeyUnsupported}" data-address="${messages.passkeyAddress}" data-failed="${messages.passkeyFailed}"`;

/** Where the script says what went wrong, and the form that carries the browser's response. */
const passkeyParts = ({ path }: Context): Html =>
  html`<div class="alert" id="passkey-alert" role="alert" hidden></div>
<form method="post" action="${path}/passkey" id="passkey-response" hidden><input type="hidden" name="response"></form>`;

function passkeyBody(context: Context): Content {
  const { messages, path } = context;
  return {
    title: messages.passkeyTitle,
    withPasskey: true,
    body: html`<div class="center"><div class="badge">${icons.key}</div>
<h1>${messages.passkeyTitle}</h1>
<p class="lead">${messages.passkeyText}</p></div>
${whoLine(context)}
${alertBox(context)}
${passkeyParts(context)}
<noscript><div class="alert" role="alert">${messages.passkeyNoScript}</div></noscript>
<form method="post" action="${path}/method"${passkeyMarks(messages)}><input type="hidden" name="method" value="passkey"><button id="use-passkey" autofocus>${messages.continue}</button></form>
<div class="foot">${otherWay(context)}${cancelForm(context)}</div>`,
  };
}

function waitingBody(context: Context): Content {
  const { login, messages, path } = context;
  return {
    title: messages.waitingTitle,
    reloadSeconds: 4,
    body: html`<div class="center"><h1>${messages.waitingTitle}</h1>
${alertBox(context)}
<div id="wait">${login.row.approval_claimed_by === null ? numberAndCode(context) : html`<div class="badge">${icons.phone}</div><p class="lead">${messages.scannedText}</p>`}</div>
<p class="hint" role="status" data-live="${path}" data-state="waiting">${messages.waitingStatus}</p></div>
${factsOf(context)}
<noscript><a class="button plain" href="${path}">${messages.checkAgain}</a></noscript>
<div class="foot">${otherWay(context)}${cancelForm(context)}</div>`,
  };
}

function numberAndCode({ login, messages, scan }: Context): Html {
  const link =
    scan &&
    html`<p class="scan">${messages.scanText}</p>${scan.image}<a class="button link" id="open-app" href="${scan.uri}">${messages.openApp}</a>`;
  return html`<p class="lead">${messages.waitingText}</p><div id="approve-number">${login.row.approval_number ?? ''}</div>${link}`;
}

/** Who asks, where from and when (RFC 10027). Times are UTC: the server does not know the reader's zone. */
function factsOf({ login, messages, language }: Context): Html {
  const at = timeFormats[language].format(login.row.created_at);
  return html`<dl class="facts"><div><dt>${messages.factClient}</dt><dd>${login.clientName}</dd></div>
${login.row.identifier !== null && html`<div><dt>${messages.signingInAs}</dt><dd>${login.row.identifier}</dd></div>`}
<div><dt>${messages.factFrom}</dt><dd>${login.row.initiated_ip ?? ''}</dd></div>
<div><dt>${messages.factAt}</dt><dd>${at} UTC</dd></div></dl>`;
}

const timeFormat = (language: Language): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
const timeFormats: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: timeFormat('en'),
  de: timeFormat('de'),
  fr: timeFormat('fr'),
  ja: timeFormat('ja'),
};

function pinBody(context: Context): Content {
  const { login, messages, path, alert } = context;
  const { length } = login.tenant.settings.pin;
  return {
    title: messages.pinTitle,
    body: html`<h1>${messages.pinTitle}</h1>
<p class="lead">${messages.pinText}</p>
${whoLine(context)}
${alertBox(context)}
<form method="post" action="${path}/pin">
<label for="pin">${messages.pin}</label>
<input id="pin" name="pin" type="text" required inputmode="numeric" autocomplete="one-time-code" maxlength="${length + 4}" placeholder="${'•'.repeat(length)}" autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}>
<button id="verify">${messages.verify}</button>
</form>
<div class="foot"><form method="post" action="${path}/pin/resend"><button class="link" id="resend">${messages.resend}</button></form>${otherWay(context)}${cancelForm(context)}</div>`,
  };
}

function approvedBody(context: Context): Content {
  const { login, messages, path } = context;
  if (login.consent !== undefined) return consentBody(context, login.consent);
  return {
    title: messages.approvedTitle,
    body: html`<div class="center"><div class="badge good">${icons.check}</div>
<h1>${messages.approvedTitle}</h1>
<p class="lead">${withName(messages.approvedText, login.clientName)}</p></div>
<form method="post" action="${path}/finish" data-auto><button id="continue" autofocus>${messages.continue}</button></form>`,
  };
}

function consentBody({ login, messages, path }: Context, scopes: readonly string[]): Content {
  const title = messages.consentTitle(login.clientName);
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="lead">${messages.consentText}</p>
<ul class="scopes">${scopes.map((scope) => html`<li>${icons.check}<span>${scopeText(messages, scope)}</span></li>`)}</ul>
<div class="stack"><form method="post" action="${path}/finish"><button id="continue">${messages.allow}</button></form>
<form method="post" action="${path}/cancel"><button class="plain" id="cancel">${messages.decline}</button></form></div>`,
  };
}

function deniedBody({ login, messages, path }: Context): Content {
  return {
    title: messages.deniedTitle,
    body: html`<div class="center"><div class="badge bad">${icons.cross}</div>
<h1>${messages.deniedTitle}</h1>
<p class="lead">${messages.deniedText}</p></div>
<form method="post" action="${path}/cancel"><button id="cancel">${messages.back(login.clientName)}</button></form>`,
  };
}

function expiredBody({ login, messages, path }: Context): Content {
  const canRestart = login.row.kind === 'oidc';
  return {
    title: messages.expiredTitle,
    body: html`<div class="center"><div class="badge">${icons.clock}</div>
<h1>${messages.expiredTitle}</h1>
<p class="lead">${messages.expiredText} ${!canRestart && messages.expiredRestart}</p></div>
${
  canRestart &&
  html`<div class="stack"><form method="post" action="${path}/restart"><button id="continue">${messages.startAgain}</button></form>
<form method="post" action="${path}/cancel"><button class="plain" id="cancel">${messages.back(login.clientName)}</button></form></div>`
}`,
  };
}

function finishedBody({ messages }: Context): Content {
  return {
    title: messages.finishedTitle,
    body: html`<div class="center"><div class="badge good">${icons.check}</div>
<h1>${messages.finishedTitle}</h1>
<p class="lead">${messages.finishedText}</p></div>`,
  };
}
