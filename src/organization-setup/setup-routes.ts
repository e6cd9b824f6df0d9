// The routes of setting an organisation up, below whatever pages they are part of: the caller says who comes and for which organisation.
import type { FastifyReply } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { domainCharsMax, nameCharsMax, providerMetadataCharsMax, providerSecretCharsMax, urlCharsMax } from '../contract/limits.ts';
import { domainOf } from '../domain/sign-in/domain-proof.ts';
import type { Typed } from '../first-party/app-form.ts';
import type { Handler, Route } from '../http/surface.ts';
import { html } from '../platform/html.ts';
import { listProvenDomains } from '../storage/registry/proven-domains.ts';
import { setupPageCatalogs } from '../texts/organization-setup-texts.ts';
import { findOwnProvider, pathBelow, type Setup, type TrialSteps, trialOf } from './setup.ts';
import {
  addDomain,
  addToken,
  lookUpDomains,
  noteTrial,
  removeDomain,
  revokeToken,
  saveProvider,
  setRule,
  switchProvider,
  type WantedProvider,
} from './setup-acts.ts';
import { setupPage } from './setup-page.ts';

type Params = Readonly<Record<string, string>>;

/** Makes handlers of what is done for whoever comes; `form` after the checks against forged ones. */
interface SetupHandlers {
  readonly page: (work: (setup: Setup, params: Params) => Promise<FastifyReply>) => Handler;
  readonly form: (work: (setup: Setup, typed: Typed, params: Params) => Promise<FastifyReply>) => Handler;
}

export function setupRoutes(route: Route, at: string, { page, form }: SetupHandlers, steps: TrialSteps): void {
  route(at, { GET: page((setup) => setupPage(setup)) });
  route(`${at}/domains`, {
    POST: form(async (setup, typed) => answer(setup, await addDomain(setup, text(typed, 'domain', domainCharsMax)))),
  });
  route(`${at}/domains/remove`, {
    POST: form(async (setup, typed) => answer(setup, await removeDomain(setup, text(typed, 'domain', domainCharsMax)))),
  });
  route(`${at}/domains/check`, {
    POST: form(async (setup) => {
      await lookUpDomains(setup);
      return back(setup);
    }),
  });
  route(`${at}/provider`, { POST: form(takeProvider) });
  route(`${at}/provider/try`, { POST: form((setup) => tryProvider(setup, steps)) });
  route(`${at}/return`, { GET: page((setup) => returnFromTrial(setup, steps)) });
  route(`${at}/provider/on`, { POST: form((setup) => turn(setup, true)) });
  route(`${at}/provider/off`, { POST: form((setup) => turn(setup, false)) });
  route(`${at}/rule`, { POST: form(takeRule) });
  route(`${at}/tokens`, { POST: form(takeToken) });
  route(`${at}/tokens/:token/revoke`, {
    POST: form(async (setup, _typed, params) => {
      if (!(await revokeToken(setup, params['token'] ?? ''))) throw reject('login.not_found', 'unknown_scim_token');
      return back(setup);
    }),
  });
}

const wordsOf = ({ language }: Setup) => setupPageCatalogs[language];

const text = (typed: Typed, name: string, charsMax: number): string => (typed.get(name) ?? '').trim().slice(0, charsMax + 1);

const back = (setup: Setup): FastifyReply =>
  setup.reply
    .code(303)
    .headers({ location: pathBelow(setup), 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
    .send();

function answer(setup: Setup, done: Awaited<ReturnType<typeof addDomain>>, typed?: WantedProvider): FastifyReply | Promise<FastifyReply> {
  if (done.ok) return back(setup);
  const words = wordsOf(setup);
  const fields = {
    issuer: words.issuer,
    client_id: words.clientId,
    client_secret: words.clientSecret,
    metadata: words.metadata,
    domains: words.domain,
  };
  // Nobody chooses it here: the change would close the only way in.
  if (done.field === 'enabled') return setupPage(setup, { notice: { kind: 'bad', text: words.onlyWay }, status: 409, typed });
  const label = Object.hasOwn(fields, done.field) ? fields[done.field as keyof typeof fields] : undefined; // an own key
  return setupPage(setup, {
    notice: { kind: 'bad', text: label === undefined ? words.refused : words.badField(label) },
    status: 400,
    typed,
  });
}

function takeProvider(setup: Setup, typed: Typed): Promise<FastifyReply> {
  const wanted: WantedProvider = {
    kind: typed.get('kind') === 'saml' ? 'saml' : 'oidc',
    issuer: text(typed, 'issuer', urlCharsMax),
    clientId: text(typed, 'client_id', nameCharsMax),
    clientSecret: text(typed, 'client_secret', providerSecretCharsMax),
    metadata: text(typed, 'metadata', providerMetadataCharsMax),
  };
  return saveProvider(setup, wanted).then((done) => answer(setup, done, wanted));
}

/** A page in between: forms of these pages may lead nowhere else, redirects included (form-action). */
async function tryProvider(setup: Setup, { startTrial }: TrialSteps): Promise<FastifyReply> {
  const words = wordsOf(setup);
  const provider = await findOwnProvider(setup);
  if (provider === undefined) throw reject('login.not_found', 'no_provider');
  const started = await startTrial(setup.services, setup.request, provider.id, trialOf(setup));
  if (!started.ok) return setupPage(setup, { notice: { kind: 'bad', text: words.tryFailed(started.reason) }, status: 400 });
  setup.reply.header('refresh', `0; url=${started.location}`);
  return setup.show(words.tryIt, html`<p><a class="button" id="go-on" href="${started.location}">${words.goOn}</a></p>`);
}

async function returnFromTrial(setup: Setup, { finishTrial }: TrialSteps): Promise<FastifyReply> {
  const words = wordsOf(setup);
  const { services, request, organizationId } = setup;
  const finished = await finishTrial(services, request, trialOf(setup).by);
  if (!finished.ok || !(await noteTrial(setup, finished.tried)))
    return setupPage(setup, { notice: { kind: 'bad', text: words.tryFailed(finished.ok ? 'gone' : finished.reason) }, status: 400 });
  const proven = await services.database.read(request.tenant.id, (queries) =>
    listProvenDomains(queries, request.tenant.id, 'organization', [organizationId]),
  );
  const { email } = finished.tried;
  const isOfProven = email !== undefined && proven.some(({ domain }) => domain === domainOf(email));
  const notice = { kind: 'good', text: isOfProven ? words.tryWorked(email) : words.tryOther(email ?? '–') } as const;
  return setupPage(setup, { notice });
}

async function turn(setup: Setup, enabled: boolean): Promise<FastifyReply> {
  const turned = await switchProvider(setup, enabled);
  if (turned.ok) return back(setup);
  if (turned.reason === 'unknown') throw reject('login.not_found', 'no_provider');
  const words = wordsOf(setup);
  return setupPage(setup, { notice: { kind: 'bad', text: turned.reason === 'only' ? words.onlyWay : words.isUntried }, status: 409 });
}

async function takeRule(setup: Setup, typed: Typed): Promise<FastifyReply> {
  const set = await setRule(setup, typed.get('rule') === 'own_providers' ? 'own_providers' : 'any');
  if (set.ok) return back(setup);
  if (set.reason === 'unknown') throw reject('login.not_found', 'unknown_organization');
  return setupPage(setup, { notice: { kind: 'bad', text: wordsOf(setup).ruleLater }, status: 409 });
}

async function takeToken(setup: Setup, typed: Typed): Promise<FastifyReply> {
  const words = wordsOf(setup);
  const name = text(typed, 'name', nameCharsMax);
  if (name === '' || name.length > nameCharsMax)
    return setupPage(setup, { notice: { kind: 'bad', text: words.badField(words.tokenName) }, status: 400 });
  const token = await addToken(setup, name);
  if (token === 'full') return setupPage(setup, { notice: { kind: 'bad', text: words.tokensFull }, status: 409 });
  return setupPage(setup, { token });
}
