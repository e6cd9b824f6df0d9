// What an invitation opens: a page with a button that uses the link up, since programs that look at links press none; then the ways to
// sign in that one adds. The token is in the fragment; a small script puts it into the form, and without scripts it is typed or pasted.
import type { FastifyRequest } from 'fastify';
import { areWebPhonesAllowed } from '../domain/device/web-phones.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { emailPinMethod, type LoginMethod, passkeyMethod, phoneMethod } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { icons } from '../pages/icons.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { passkeyCreateScript } from '../pages/passkey-script.ts';
import { qrCode } from '../pages/qr-code.ts';
import { takeTokenScript, tokenField } from '../pages/token-link.ts';
import { type Html, html } from '../platform/html.ts';
import { passkeyCatalogs } from '../texts/passkey-texts.ts';
import { type WelcomeTexts, welcomeCatalogs } from '../texts/welcome-texts.ts';

/** In the address of a link that recovers, for the words of its page; the token decides what it does. */
const recoveryMark = 'recovery';
export const isRecovery = ({ url, tenant }: FastifyRequest): boolean =>
  new URL(url, tenant.baseUrl).searchParams.get('for') === recoveryMark;

export const welcomeLanguage = (request: FastifyRequest): Language => negotiateLanguage(request.headers['accept-language']);
export const pathBelow = ({ baseUrl }: Tenant, path: string): string => `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;

export function linkPage(request: FastifyRequest, hasFailed: boolean): Page {
  const { tenant } = request;
  const language = welcomeLanguage(request);
  const words = welcomeCatalogs[language];
  const title = words.title(tenant.name);
  return renderPage({
    language,
    tenant,
    title,
    script: takeTokenScript,
    body: html`<h1>${title}</h1>
<p class="lead">${isRecovery(request) ? words.recoveryLead : words.lead}</p>
${hasFailed && html`<div class="alert" role="alert" id="alert">${words.usedLink}</div>`}
<form method="post" action="${pathBelow(tenant, '/welcome')}">
${tokenField(words.code, '')}
<button id="continue" autofocus>${words.continue}</button>
</form>`,
  });
}

export interface Ways {
  readonly name: string;
  readonly isAdministrator: boolean;
  readonly passkeys: number;
  /** Names of the phones added in this visit. */
  readonly phones: readonly string[];
  /** What the script answers to; undefined: the tenant takes no passkeys, or the person has as many as fit. */
  readonly passkeyOptions: Readonly<Record<string, unknown>> | undefined;
  /** The enrolment link; undefined: there is none that works. */
  readonly qrUri: string | undefined;
  readonly alert: string | undefined;
  /** Old phones were revoked on the way here. */
  readonly isRecovery: boolean;
  readonly passkeyAdded: boolean;
  /** One more phone, after the first. */
  readonly wantsAnother: boolean;
}

interface Context {
  readonly tenant: Tenant;
  readonly language: Language;
  readonly words: WelcomeTexts;
  readonly ways: Ways;
}

/** The ways to sign in: what was added, and what can be. */
export async function waysPage(request: FastifyRequest, ways: Ways): Promise<Page> {
  const { tenant } = request;
  const language = welcomeLanguage(request);
  const words = welcomeCatalogs[language];
  const context = { tenant, language, words, ways };
  const title = words.addTitle(ways.name);
  const { login_methods: chosen } = tenant.settings;
  const methods: readonly LoginMethod[] = ways.isAdministrator ? [...new Set([passkeyMethod, phoneMethod, ...chosen])] : chosen;
  const isDone = ways.passkeyAdded || ways.phones.length > 0 || methods.join() === emailPinMethod;
  const [path, text] = ways.isAdministrator ? (['/console', words.openConsole] as const) : (['/account', words.openAccount] as const);
  return renderPage({
    language,
    tenant,
    title,
    script: `${ways.passkeyOptions === undefined ? '' : passkeyCreateScript}${liveScript}`,
    body: html`<h1>${title}</h1>
<p class="lead">${words.addLead(tenant.name)}</p>
${ways.isRecovery && html`<p id="recovered">${words.phonesRevoked}</p>`}
${ways.alert !== undefined && html`<div class="alert" role="alert" id="alert">${ways.alert}</div>`}
<div class="alert" id="passkey-alert" role="alert" hidden></div>
${ways.passkeyAdded && doneLine('passkey-added', words.passkeyAdded)}
${ways.phones.map((phone) => doneLine('phone-added', `${words.phoneAdded} ${phone}`))}
${isDone && html`<p><a class="button" id="${path.slice(1)}" href="${pathBelow(tenant, path)}">${text}</a></p>`}
${methods.includes(passkeyMethod) && passkeySection(context)}
${methods.includes(phoneMethod) && (await phoneSection(context))}
${methods.includes(emailPinMethod) && html`<p class="hint">${words.byMail}</p>`}
${!isDone && html`<p><a class="button plain" id="${path.slice(1)}" href="${pathBelow(tenant, path)}">${text}</a></p>`}`,
  });
}

const doneLine = (id: string, text: string): Html =>
  html`<div role="status"><ul class="scopes"><li id="${id}">${icons.check}<span>${text}</span></li></ul></div>`;

function passkeySection({ tenant, language, words, ways }: Context): Html | undefined {
  if (ways.passkeyOptions === undefined) return undefined;
  const texts = passkeyCatalogs[language];
  return html`<section aria-labelledby="passkey-title"><h2 id="passkey-title">${words.passkeyTitle}</h2><p>${words.passkeyText}</p>
<noscript><div class="alert" role="alert">${texts.needsScript}</div></noscript>
<form method="post" action="${pathBelow(tenant, '/welcome/passkey')}" data-new-passkey data-options="${JSON.stringify(ways.passkeyOptions)}" data-unsupported="${texts.unsupported}" data-address="${texts.address}" data-failed="${texts.failed}" data-here="${texts.here}">
<input type="hidden" name="response"><button id="create-passkey"${(ways.passkeyAdded || ways.phones.length > 0) && html` class="plain"`}>${texts.create}</button></form></section>`;
}

async function phoneSection({ tenant, words, ways }: Context): Promise<Html> {
  const title = html`<h2 id="phone-title">${words.phoneTitle}</h2>`;
  const { qrUri } = ways;
  if (qrUri === undefined || (ways.phones.length > 0 && !ways.wantsAnother))
    return html`<section aria-labelledby="phone-title">${title}<form method="post" action="${pathBelow(tenant, '/welcome/phone')}"><button class="plain" id="another-phone">${words.anotherPhone}</button></form></section>`;
  const onThisMachine = tenant.baseUrl.startsWith('http:'); // plain http is loopback or development
  return html`<section aria-labelledby="phone-title" data-live="${pathBelow(tenant, '/welcome/status')}" data-phones="${ways.phones.length}">${title}<p>${words.phoneText}</p>
<p id="qr">${await qrCode(qrUri, words.qrLabel)}</p>
<p><a class="button plain" id="enroll" href="${qrUri}">${words.enrollHere}</a></p>
${areWebPhonesAllowed(tenant) && html`<p><a class="button plain" id="web-phone" href="${qrUri.replace('/enroll#', '/phone#')}">${words.webPhone}</a></p>`}
${onThisMachine && html`<p class="hint">${words.simulator}</p><p class="mono" id="simulator">./bin/gatehouse phone enrol --link '${qrUri}'</p>`}
<noscript><a class="button plain" href="${pathBelow(tenant, '/welcome/add')}">${words.checkAgain}</a></noscript></section>`;
}

/** Loads the page again when a phone was added; looks only while somebody looks at it. */
const liveScript = `(()=>{const s=document.querySelector('[data-live]');if(!s)return;let gone=false;addEventListener('beforeunload',()=>{gone=true});
const look=async()=>{if(document.hidden)return;try{const r=await fetch(s.dataset.live,{headers:{accept:'application/json'}});
if(r.ok){if((await r.json()).phones>+s.dataset.phones&&!gone)location.replace(location.pathname)}else clearInterval(timer)}catch{}},timer=setInterval(look,2000)})();`;
