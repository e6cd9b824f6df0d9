// Recovery codes on the account page (design 14, 3): how many are left and since when; new ones after a sign-in of the last minutes
// by phone or passkey, shown in the answer to the post and never again. And the page for whoever must prove more first.

import type { FastifyReply } from 'fastify';
import { strongMethodsOf } from '../approvals/link-identity.ts';
import { makeRecoveryCodes } from '../approvals/recovery/recovery-codes.ts';
import { reject } from '../contract/contract-error.ts';
import { loginMethods, phoneMethod } from '../domain/sign-in/login-methods.ts';
import { accountApp } from '../first-party/account-client.ts';
import { csrfField } from '../first-party/app-page.ts';
import { startSignIn } from '../first-party/app-sign-in.ts';
import { html } from '../platform/html.ts';
import type { Queries } from '../storage/engine/database.ts';
import { countRecoveryCodes } from '../storage/sign-in/recovery-codes.ts';
import { timeOf } from './account-time.ts';
import {
  type AccountVisit,
  byOf,
  hasRecoveryCodes,
  holdSession,
  isByKey,
  isByRecoveryCode,
  isFresh,
  pathTo,
  showPage,
} from './account-visit.ts';

const codesPath = '/recovery-codes';

export async function recoveryPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words, session } = visit;
  requireOffer(visit);
  const { remaining, madeAtMs } = await services.database.read(request.tenant.id, (queries) =>
    countRecoveryCodes(queries, request.tenant.id, user.id),
  );
  const mayMake = isByKey(visit) && isFresh(visit);
  return showPage(
    visit,
    words.recoveryCodes,
    html`<p class="muted">${words.recoveryCodesLead}</p>
${madeAtMs === undefined ? html`<p id="none">${words.noCodes}</p>` : html`<dl class="card"><dt>${words.codesLeft}</dt><dd id="codes-left">${remaining}</dd><dt>${words.codesMade}</dt><dd>${timeOf(visit, madeAtMs)}</dd></dl>`}
${madeAtMs !== undefined && html`<p>${words.codesReplaced}</p>`}
${mayMake ? html`<form method="post" action="${pathTo(visit, codesPath)}">${csrfField(session)}<button id="make-codes">${words.makeCodes}</button></form>` : html`<p>${words.proveByKey}</p><p><a class="button" id="sign-in-again" href="${pathTo(visit, `${codesPath}/sign-in`)}">${words.signInAgain}</a></p>`}`,
  );
}

/** Makes new codes and shows them, once. */
export async function makeCodes(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words } = visit;
  requireOffer(visit);
  const by = { ...byOf(visit), requestId: request.id, asked: request.headers['accept-language'] };
  const mayMake = async (queries: Queries): Promise<boolean> => isByKey(visit) && isFresh(visit) && (await holdSession(queries, visit));
  const made = await makeRecoveryCodes(services, request.tenant, { userId: user.id, mayMake }, by);
  if (!made.ok) return proofPage(visit, words.proveByKey, `${codesPath}/sign-in`);
  return showPage(
    visit,
    words.recoveryCodes,
    html`<p>${words.codesShown}</p>
<div class="card"><ol class="mono" id="codes">${made.codes.map((code) => html`<li>${code}</li>`)}</ol></div>
<p><a class="button quiet" href="${pathTo(visit, codesPath)}">${words.codesKept}</a></p>`,
    { notice: { kind: 'good', text: words.doneCodesMade } },
  );
}

/** To the sign-in by phone or passkey, and back. */
export function signInForCodes({ services, request, reply }: AccountVisit): Promise<FastifyReply> {
  return startSignIn(services, accountApp, request, reply, { returnTo: codesPath, acrValues: loginMethods[phoneMethod].acr, again: true });
}

/** To the sign-in by anything, and back to a page; what it proves is judged afterwards. */
export function signInToProve({ services, request, reply }: AccountVisit, returnTo: '/devices' | '/passkeys'): Promise<FastifyReply> {
  return startSignIn(services, accountApp, request, reply, { returnTo, again: true });
}

/**
 * Whether a session proves too little to change phones or passkeys: mail alone adds none where a stronger one is, so it takes none
 * away either.
 */
export async function isTooWeak(visit: AccountVisit): Promise<boolean> {
  const { services, request, user } = visit;
  const { tenant } = request;
  if (isByKey(visit) || isByRecoveryCode(visit)) return false;
  return (await services.database.read(tenant.id, (queries) => strongMethodsOf(queries, tenant, user.id))).length > 0;
}

/** Says what to sign in with first, with the way there. */
export const proveMorePage = (visit: AccountVisit, path: string): FastifyReply => proofPage(visit, visit.words.proveMore, path);

/** Says why another sign-in comes first, with the way to it. */
export function proofPage(visit: AccountVisit, text: string, path: string): FastifyReply {
  const { words } = visit;
  return showPage(
    visit,
    words.signInAgain,
    html`<p><a class="button" id="sign-in-again" href="${pathTo(visit, path)}">${words.signInAgain}</a></p>`,
    {
      notice: { kind: 'bad', text },
    },
  );
}

/** @throws login.not_found where the tenant has none */
function requireOffer({ request }: AccountVisit): void {
  if (!hasRecoveryCodes(request.tenant)) throw reject('login.not_found', 'no_recovery_codes');
}
