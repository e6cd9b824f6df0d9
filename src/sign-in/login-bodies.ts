// What the sign-in pages say, one body per state (design 04, Pages). Forms only; ids are stable, because people's password managers
// and certification browsers rely on them. Says who asks, what, where from and when; declining is as easy as approving.
import { identifierCharsMax, pinDigitsMax, recoveryCodeCharsMax } from '../contract/limits.ts';
import { areWebPhonesAllowed } from '../domain/device/web-phones.ts';
import type { Language } from '../domain/language.ts';
import { type LoginMethod, passkeyMethod } from '../domain/sign-in/login-methods.ts';
import { ssoPolicyOf } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { icons } from '../pages/icons.ts';
import { type Html, html, withoutDirectionControls } from '../platform/html.ts';
import { hasSeenThePage } from '../storage/sign-in/approvals.ts';
import { type PageTexts, scopeText } from '../texts/pages/page-texts.ts';
import { phonePageTexts } from '../texts/phone-page-texts.ts';
import type { LoginNow, LoginState, StrangerFacts } from './login-view.ts';
import { takesRecoveryCode } from './recovery/recovery-step.ts';

export interface LoginView {
  readonly login: LoginNow;
  readonly messages: PageTexts;
  readonly language: Language;
  readonly path: string;
  readonly alert: string | undefined;
  /** Where whoever tries this out on their machine reads mails. */
  readonly mailbox: string | undefined;
  /** What a phone may scan or open instead of typing the number. */
  readonly scan: { readonly uri: string; readonly image: Html } | undefined;
}

interface LoginContent {
  readonly title: string;
  readonly body: Html;
  readonly reloadSeconds?: number;
  /** True: the page needs the script that speaks to the authenticator. */
  readonly withPasskey?: boolean;
}

/** What is shown: where the sign-in stands, or a step of it that was asked for. */
export type ShownState = LoginState | 'passkey' | 'recovery';

/** The pages by what they show. */
export const loginBodies: Readonly<Record<ShownState, (context: LoginView) => LoginContent>> = {
  account: accountBody,
  identify: identifyBody,
  choose: chooseBody,
  waiting: waitingBody,
  pin: pinBody,
  passkey: passkeyBody,
  recovery: recoveryBody,
  organization: organizationBody,
  approved: approvedBody,
  denied: deniedBody,
  expired: expiredBody,
  finished: finishedBody,
};

const alertBox = ({ alert }: LoginView): Html | undefined =>
  alert === undefined ? undefined : html`<div class="alert" id="alert" role="alert">${alert}</div>`;

/** A sentence with the name in it set in bold, wherever the language puts it. */
function withName(sentence: (name: string) => string, name: string): Html {
  const [before, after] = sentence('\0').split('\0');
  return html`${before}<b>${name}</b>${after}`;
}

/** The application's own mark, where it is a picture of the tenant's: pages load nothing from elsewhere. */
function appLogo({ tenant, logoUri }: LoginNow): Html | undefined {
  return logoUri?.startsWith(`${tenant.baseUrl}/assets/`) === true ? html`<img class="app-logo" src="${logoUri}" alt="">` : undefined;
}

const cancelForm = ({ path, messages }: LoginView): Html =>
  html`<form method="post" action="${path}/cancel"><button class="link" id="cancel">${messages.cancel}</button></form>`;

function whoLine({ login, path, messages }: LoginView): Html | undefined {
  const { identifier } = login.row;
  if (identifier === null) return undefined;
  return html`<div class="who"><span title="${identifier}">${identifier}</span><a href="${path}?step=identify" aria-label="${messages.notYou}: ${identifier}">${messages.notYou}</a></div>`;
}

const otherWay = ({ login, path, messages }: LoginView): Html | undefined =>
  login.methods.length > 1 ? html`<a class="button link" href="${path}?step=choose">${messages.otherWay}</a>` : undefined;

/** The same for everybody, whether they are known and have codes or not. */
const lostPhone = ({ login, path, messages }: LoginView): Html | undefined =>
  takesRecoveryCode(login)
    ? html`<a class="button link" id="lost-phone" href="${path}?step=recovery">${messages.lostPhone}</a>`
    : undefined;

function accountBody(context: LoginView): LoginContent {
  const { login, messages, path } = context;
  return {
    title: messages.accountTitle,
    body: html`<h1>${messages.accountTitle}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${alertBox(context)}
<form method="post" action="${path}/account" class="stack">${login.accounts.map(
      ({ id, displayName, email }) =>
        html`<button class="choice" name="account" value="${id}">${icons.person}<span>${displayName}${email !== undefined && email !== displayName && html`<small>${email}</small>`}</span></button>`,
    )}
<button class="plain" id="other-account" name="other" value="1">${messages.otherAccount}</button></form>
<div class="foot">${cancelForm(context)}</div>`,
  };
}

function organizationBody(context: LoginView): LoginContent {
  const { login, messages, path } = context;
  return {
    title: messages.organizationTitle,
    body: html`<h1>${messages.organizationTitle}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${alertBox(context)}
<form method="post" action="${path}/organization" class="stack">${login.organizations.map(
      ({ id, name, displayName }) =>
        html`<button class="choice" name="organization" value="${id}">${icons.organization}<span>${withoutDirectionControls(displayName ?? name)}${displayName !== undefined && html`<small>${name}</small>`}</span></button>`,
    )}</form>
<div class="foot">${cancelForm(context)}</div>`,
  };
}

function identifyBody(context: LoginView): LoginContent {
  const { login, messages, path, alert } = context;
  const value = login.row.identifier ?? login.row.login_hint ?? '';
  return {
    title: messages.signIn,
    body: html`${appLogo(login)}<h1>${messages.signIn}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${alertBox(context)}
<form method="post" action="${path}/identify">
<label for="identifier">${messages.identifier}</label>
<input id="identifier" name="identifier" type="text" value="${value}" required maxlength="${identifierCharsMax}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" inputmode="email" autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}>
${ssoPolicyOf(login.tenant.settings.sso_session) !== undefined && html`<label class="check"><input type="checkbox" id="not-my-computer" name="not_my_computer"> ${messages.notMyComputer}</label>`}
<button id="continue">${messages.continue}</button>
${login.providers.length > 0 && html`<div class="stack providers">${login.providers.map(({ alias, name }) => html`<button class="plain" id="idp-${alias}" name="alias" value="${alias}" formaction="${path}/external" formnovalidate>${messages.continueWith(name)}</button>`)}</div>`}
</form>
<div class="foot">${cancelForm(context)}</div>`,
  };
}

function chooseBody(context: LoginView): LoginContent {
  const { login, messages, path } = context;
  const choices: Readonly<Record<LoginMethod, { id: string; icon: Html; text: string; hint: string }>> = {
    phone: { id: 'use-phone', icon: icons.phone, text: messages.phone, hint: messages.phoneHint },
    passkey: { id: 'use-passkey', icon: icons.key, text: messages.passkey, hint: messages.passkeyHint },
    email_pin: { id: 'use-email', icon: icons.mail, text: messages.email, hint: messages.emailHint },
  };
  const choice = (method: LoginMethod): Html => {
    const { id, icon, text, hint } = choices[method];
    const passkey = method === passkeyMethod && passkeyMarks(messages);
    return html`<form method="post" action="${path}/method"${passkey}><input type="hidden" name="method" value="${method}"><button class="choice" id="${id}">${icon}<span>${text}<small>${hint}</small></span></button></form>`;
  };
  const withPasskey = login.methods.includes(passkeyMethod);
  return {
    title: messages.chooseTitle,
    withPasskey,
    body: html`<h1>${messages.chooseTitle}</h1>
<p class="lead">${withName(messages.toContinueTo, login.clientName)}</p>
${whoLine(context)}
${alertBox(context)}
${withPasskey && passkeyParts(context)}
${login.methods.length === 0 && login.ownProviders.length === 0 && html`<div class="alert" role="alert">${messages.noMethod}</div>`}
<div class="stack">${login.ownProviders.map(({ alias, name }) => html`<form method="post" action="${path}/external"><input type="hidden" name="alias" value="${alias}"><input type="hidden" name="identifier" value="${login.row.identifier ?? ''}"><button id="idp-${alias}">${messages.continueWith(name)}</button></form>`)}${inOrderOf(login).map(choice)}</div>
<div class="foot">${lostPhone(context)}${cancelForm(context)}</div>`,
  };
}

/** The page has the tenant's order; what only administrators always have comes behind. */
const inOrderOf = ({ methods, tenant }: LoginNow): readonly LoginMethod[] => {
  const order: readonly string[] = tenant.settings.login_methods;
  const placeOf = (method: LoginMethod): number => (order.includes(method) ? order.indexOf(method) : order.length);
  return methods.toSorted((left, right) => placeOf(left) - placeOf(right));
};

/** What the script reads from the form that starts it. */
const passkeyMarks = (messages: PageTexts): Html =>
  html` data-passkey data-unsupported="${messages.passkeyUnsupported}" data-address="${messages.passkeyAddress}" data-failed="${messages.passkeyFailed}"`;

/** Where the script says what went wrong, and the form that carries the browser's response. */
const passkeyParts = ({ path }: LoginView): Html =>
  html`<div class="alert" id="passkey-alert" role="alert" hidden></div>
<form method="post" action="${path}/passkey" id="passkey-response" hidden><input type="hidden" name="response"></form>`;

function passkeyBody(context: LoginView): LoginContent {
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
<form method="post" action="${path}/method"${passkeyMarks(messages)}><input type="hidden" name="method" value="${passkeyMethod}"><button id="use-passkey" autofocus>${messages.continue}</button></form>
<div class="foot">${otherWay(context)}${lostPhone(context)}${cancelForm(context)}</div>`,
  };
}

function waitingBody(context: LoginView): LoginContent {
  const { messages, path } = context;
  return {
    title: messages.waitingTitle,
    reloadSeconds: 4,
    body: html`<div class="center"><h1>${messages.waitingTitle}</h1>
${alertBox(context)}
<div id="wait">${numberAndCode(context)}</div>
<p class="hint" role="status" data-live="${path}" data-state="waiting">${messages.waitingStatus}</p></div>
${factsOf(context)}
<noscript><a class="button plain" href="${path}">${messages.checkAgain}</a></noscript>
<div class="foot">${otherWay(context)}${lostPhone(context)}${cancelForm(context)}</div>`,
  };
}

/** Whether phones open links of the tenant in an app of its own. */
const hasApp = ({ settings: { app_links: links } }: Tenant): boolean => links.apple.length + links.android.length > 0;

function numberAndCode({ login, messages, language, scan }: LoginView): Html {
  const { approval_claimed_by: claimedBy, approval_claimed_as: claimedAs } = login.row;
  if (claimedBy !== null && hasSeenThePage(claimedAs))
    return html`<div class="badge">${icons.phone}</div><p class="lead">${messages.scannedText}</p>`;
  const link =
    scan &&
    html`<p class="scan">${messages.scanText}</p>${scan.image}${
      hasApp(login.tenant) && html`<a class="button link" id="open-app" href="${scan.uri}">${messages.openApp}</a>`
    }${
      areWebPhonesAllowed(login.tenant) &&
      html`<a class="button link" id="in-browser" target="_blank" href="${scan.uri.replace('/scan#', '/phone#')}">${phonePageTexts[language].approve}</a>`
    }`;
  return html`<p class="lead">${messages.waitingText}</p><div id="approve-number">${login.row.approval_number ?? ''}</div>${link}`;
}

/** Who asks, where from and when (RFC 10027). Times are UTC: the server does not know the reader's zone. */
function factsOf({ login, messages, language }: LoginView): Html {
  const at = timeFormatOf(language).format(login.row.created_at);
  return html`<dl class="facts"><div><dt>${messages.factClient}</dt><dd>${login.clientName}</dd></div>
${login.row.identifier !== null && html`<div><dt>${messages.signingInAs}</dt><dd>${login.row.identifier}</dd></div>`}
<div><dt>${messages.factFrom}</dt><dd>${login.row.initiated_ip ?? ''}</dd></div>
<div><dt>${messages.factAt}</dt><dd>${at} UTC</dd></div></dl>`;
}

const timeFormats = new Map<Language, Intl.DateTimeFormat>();

/** Made when first needed: the tables of languages are megabytes. */
function timeFormatOf(language: Language): Intl.DateTimeFormat {
  let known = timeFormats.get(language);
  if (known === undefined) {
    known = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
    timeFormats.set(language, known);
  }
  return known;
}

function pinBody(context: LoginView): LoginContent {
  const { login, messages, path, alert, mailbox } = context;
  const { length } = login.tenant.settings.pin;
  return {
    title: messages.pinTitle,
    body: html`<h1>${messages.pinTitle}</h1>
<p class="lead">${messages.pinText}</p>
${whoLine(context)}
${alertBox(context)}
<form method="post" action="${path}/pin">
<label for="pin">${messages.pin}</label>
<input id="pin" name="pin" type="text" required inputmode="numeric" autocomplete="one-time-code" maxlength="${pinDigitsMax + 4}" placeholder="${'•'.repeat(length)}" autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}>
<button id="verify">${messages.verify}</button>
</form>
${mailbox !== undefined && html`<p class="hint"><a id="dev-mail" href="${mailbox}" target="_blank">${messages.readMail}</a></p>`}
<div class="foot"><form method="post" action="${path}/pin/resend"><button class="link" id="resend">${messages.resend}</button></form>${otherWay(context)}${cancelForm(context)}</div>`,
  };
}

function recoveryBody(context: LoginView): LoginContent {
  const { messages, path, alert } = context;
  return {
    title: messages.recoveryTitle,
    body: html`<h1>${messages.recoveryTitle}</h1>
<p class="lead">${messages.recoveryText}</p>
${whoLine(context)}
${alertBox(context)}
<form method="post" action="${path}/recovery">
<label for="code">${messages.recoveryCode}</label>
<input id="code" name="code" type="text" required autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false" maxlength="${recoveryCodeCharsMax}" placeholder="•••••-•••••" autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}>
<button id="verify">${messages.continue}</button>
</form>
<p class="hint">${messages.recoveryNoCode}</p>
<div class="foot"><a class="button link" href="${path}?step=choose">${messages.otherWay}</a>${cancelForm(context)}</div>`,
  };
}

function approvedBody(context: LoginView): LoginContent {
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

function consentBody(context: LoginView, scopes: readonly string[]): LoginContent {
  const { login, messages, path } = context;
  if (login.stranger !== undefined) return strangerConsentBody(context, login.stranger, scopes);
  const title = messages.consentTitle(login.clientName);
  return {
    title,
    body: html`${appLogo(login)}<h1>${title}</h1>
<p class="lead">${messages.consentText}</p>
<ul class="scopes">${scopes.map((scope) => html`<li>${icons.check}<span>${scopeText(messages, scope)}</span></li>`)}</ul>
${decision(path, messages)}`,
  };
}

const decision = (path: string, messages: PageTexts): Html =>
  html`<div class="stack"><form method="post" action="${path}/finish"><button id="continue">${messages.allow}</button></form>
<form method="post" action="${path}/cancel"><button class="plain" id="cancel">${messages.decline}</button></form></div>`;

/** What a program that nobody registered asks for: hosts and the tenant's own words stand out, what it says of itself does not. */
function strangerConsentBody({ messages, path }: LoginView, stranger: StrangerFacts, scopes: readonly string[]): LoginContent {
  const { clientHost, answerHost: host, resource, claimedName, isChecked } = stranger;
  const client = clientHost ?? host ?? messages.agentLocal;
  const shown = resource && `${resource.name} (${URL.parse(resource.identifier)?.host || resource.identifier})`;
  const title = shown === undefined ? messages.agentSignsIn(client) : messages.agentUses(client, shown);
  const textOf = (scope: string): string => resource?.scopes.find(({ name }) => name === scope)?.description ?? scopeText(messages, scope);
  const answers =
    host === undefined
      ? messages.agentAnswersHere
      : clientHost === undefined || clientHost === host
        ? messages.agentAnswersTo(host)
        : messages.agentAnswersElsewhere(host);
  return {
    title,
    body: html`<h1 id="asks">${shown === undefined ? title : withName((name) => messages.agentUses(client, name), shown)}</h1>
<p class="lead">${messages.consentText}</p>
<ul class="scopes">${scopes.map((scope) => html`<li>${icons.check}<span>${textOf(scope)}</span></li>`)}</ul>
<p class="hint" id="claimed-name">${messages.agentName(claimedName)}</p>
<p class="hint" id="answers">${answers}</p>
${!isChecked && html`<p class="hint" id="unchecked">${messages.agentUnchecked}</p>`}
${decision(path, messages)}`,
  };
}

function deniedBody({ login, messages, path }: LoginView): LoginContent {
  return {
    title: messages.deniedTitle,
    body: html`<div class="center"><div class="badge bad">${icons.cross}</div>
<h1>${messages.deniedTitle}</h1>
<p class="lead">${messages.deniedText}</p></div>
<form method="post" action="${path}/cancel"><button id="cancel">${messages.back(login.clientName)}</button></form>`,
  };
}

function expiredBody({ login, messages, path }: LoginView): LoginContent {
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

function finishedBody({ messages }: LoginView): LoginContent {
  return {
    title: messages.finishedTitle,
    body: html`<div class="center"><div class="badge good">${icons.check}</div>
<h1>${messages.finishedTitle}</h1>
<p class="lead">${messages.finishedText}</p></div>`,
  };
}
