// The sign-in page of the state a sign-in is in (design 04, Pages), in the tenant's words; its bodies are in login-bodies.ts. The same
// pages, of a sign-in nobody makes, are the preview of a draft.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { brandedTenant } from '../domain/organizations/branded-tenant.ts';
import { type Page, renderPage, type Theme } from '../pages/page.ts';
import { passkeySignInScript } from '../pages/passkey-script.ts';
import { qrCode } from '../pages/qr-code.ts';
import { html } from '../platform/html.ts';
import { loginTextsOf, noteOf } from '../texts/login-texts.ts';
import { type PageTexts, pageTextsOf } from '../texts/pages/page-texts.ts';
import { type LoginView, loginBodies, type ShownState } from './login-bodies.ts';
import type { LoginCode } from './login-code.ts';
import { loginScript } from './login-script.ts';
import type { LoginNow } from './login-view.ts';
import { takesRecoveryCode } from './recovery/recovery-step.ts';

/** The page of the state a sign-in is in. `?step=identify` and `?step=choose` go back without losing anything. */
export async function loginPage(
  request: FastifyRequest,
  login: LoginNow,
  { code, mailbox }: { readonly code: LoginCode | undefined; readonly mailbox: string | undefined },
): Promise<Page> {
  if (code === undefined) return render(request, login, { mailbox });
  const { qrLabel } = pageTextsOf(languageOf(request, login));
  return render(request, login, { scan: { uri: code.uri, image: await qrCode(code.uri, qrLabel) } });
}

/** The same page with what went wrong, for posts that were refused. */
export function loginErrorPage(answer: Answer, request: FastifyRequest, login: LoginNow, mailbox: string | undefined): Page {
  const messages = pageTextsOf(languageOf(request, login));
  return render(request, login, { alert: alertOf(messages, answer, isRecoveryPost(request)), mailbox });
}

const languageOf = (request: FastifyRequest, { row }: LoginNow): Language =>
  negotiateLanguage(row.ui_locales, request.headers['accept-language']);

const isRecoveryPost = ({ method, url }: FastifyRequest): boolean => method === 'POST' && url.endsWith('/recovery');

type Shown = Partial<Pick<LoginView, 'alert' | 'scan' | 'mailbox'>>;

function render(request: FastifyRequest, login: LoginNow, shown: Shown): Page {
  const { step } = request.query as { step?: unknown }; // a parsed query string; compared below
  const state = shownState(login, isRecoveryPost(request) ? 'recovery' : step);
  return renderLogin(login, { ...shown, state, language: languageOf(request, login) });
}

/** What a sign-in looks like in a state. `preview`: for whoever words or draws it, as pages of one theme that can do nothing. */
export function renderLogin(
  login: LoginNow,
  { state, language, alert, scan, mailbox, preview }: Shown & Pick<LoginView, 'language'> & { state: ShownState; preview?: Theme },
): Page {
  const tenant = brandedTenant(login.tenant, login.organization);
  const path = `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}/login/${login.row.id}`;
  const content = loginBodies[state]({ login, messages: loginTextsOf(tenant, language), language, path, alert, scan, mailbox });
  const note = noteOf(tenant, language, state === 'approved' && login.consent !== undefined ? 'consent' : state);
  const body = html`${content.body}${note !== undefined && html`<p class="hint note">${note}</p>`}`;
  if (preview !== undefined) return renderPage({ ...content, body, language, tenant, preview });
  const script = content.withPasskey === true ? `${loginScript}${passkeySignInScript}` : loginScript;
  return renderPage({ ...content, body, language, tenant, script });
}

function shownState(login: LoginNow, step: unknown): ShownState {
  const { state, row } = login;
  if (step === 'recovery' && takesRecoveryCode(login)) return 'recovery';
  const mayGoBack = state === 'choose' || state === 'waiting' || state === 'pin';
  if (mayGoBack && step === 'identify') return 'identify';
  if (mayGoBack && step === 'choose') return 'choose';
  return state === 'choose' && row.step === 'passkey' ? 'passkey' : state;
}

function alertOf(messages: PageTexts, { body, headers, status }: Answer, isRecovery: boolean): string {
  const seconds = Number(headers['retry-after'] ?? 1);
  switch (body['error']) {
    case 'pin_invalid':
      return messages.wrongPin(Number(body['attempts_left']));
    case 'pin_locked':
      return isRecovery ? messages.lockedRecovery : messages.lockedPin;
    case 'pin_expired':
      return messages.expiredPin;
    case 'unauthorized':
      return messages.passkeyRefused;
    case 'external_refused':
      return messages.externalRefused;
    case 'external_unavailable':
      return messages.externalUnavailable;
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

function badFieldText(messages: PageTexts, field: unknown): string {
  if (field === 'identifier') return messages.badIdentifier;
  if (field === 'pin') return messages.badPin;
  if (field === 'code') return messages.badRecovery;
  return field === 'response' ? messages.passkeyRefused : messages.errorClient;
}
