// The one page of setting an organisation up: its domains with their records, its provider, its sign-in rule, its tokens for SCIM, in the
// order in which they are of use. Every form posts below it and comes back to it.
import type { FastifyReply } from 'fastify';
import { proofsOf } from '../administration/domain-proofs.ts';
import { domainCharsMax, nameCharsMax, providerMetadataCharsMax, providerSecretCharsMax, urlCharsMax } from '../contract/limits.ts';
import type { Organization } from '../domain/organizations/organization.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-provider.ts';
import { csrfField } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { listProvenDomains, type ProvenDomain } from '../storage/registry/proven-domains.ts';
import { listScimTokens, type ScimToken } from '../storage/registry/scim-tokens.ts';
import { type SetupPageTexts, setupPageCatalogs } from '../texts/organization-setup-texts.ts';
import { callbackOf, findOwnProvider, loadSetUp, type Notice, pathBelow, type Setup } from './setup.ts';
import { isTried, type WantedProvider } from './setup-acts.ts';

interface Shown {
  readonly notice?: Notice | undefined;
  readonly status?: number;
  /** As typed, where it was not taken. */
  readonly typed?: WantedProvider | undefined;
  /** A token that was made: shown once. */
  readonly token?: string | undefined;
}

export async function setupPage(setup: Setup, { notice, status, typed, token }: Shown = {}): Promise<FastifyReply> {
  const { services, request, organizationId, language } = setup;
  const { tenant } = request;
  const words = setupPageCatalogs[language];
  const organization = await loadSetUp(setup);
  const provider = await findOwnProvider(setup);
  const { proven, tokens } = await services.database.read(tenant.id, async (queries) => ({
    proven: await listProvenDomains(queries, tenant.id, 'organization', [organizationId]),
    tokens: await listScimTokens(queries, { tenant: tenant.id, organization: organizationId }),
  }));
  return setup.show(
    words.title(organization.displayName ?? organization.name),
    html`<p class="muted">${words.lead(tenant.name)}</p>
${domainsPart(setup, words, organization, proven)}
${providerPart(setup, words, provider, { typed, isTried: provider !== undefined && (await isTried(setup)) })}
${rulePart(setup, words, organization, provider)}
${tokensPart(setup, words, tokens, token)}`,
    notice,
    status,
  );
}

const form = (setup: Setup, path: string, content: Html): Html =>
  html`<form method="post" action="${pathBelow(setup, path)}">${csrfField(setup)}${content}</form>`;

function domainsPart(setup: Setup, words: SetupPageTexts, organization: Organization, proven: readonly ProvenDomain[]): Html {
  const { tenant } = setup.request;
  const proofs = proofsOf(tenant.id, organization, proven);
  const items = proofs.map(
    ({ domain, name, value, provenAtMs }) =>
      html`<li class="card"><h3>${domain} <span class="muted">${provenAtMs === undefined ? words.notProven : words.proven}</span></h3>
${provenAtMs === undefined && html`<dl><dt>${words.recordName}</dt><dd class="mono">${name}</dd><dt>${words.recordText}</dt><dd class="mono">${value}</dd></dl>`}
${form(setup, '/domains/remove', html`<input type="hidden" name="domain" value="${domain}"><button class="quiet" aria-label="${words.removeNamed(domain)}">${words.remove}</button>`)}</li>`,
  );
  return html`<section aria-labelledby="domains"><h2 id="domains">1. ${words.domains}</h2><p>${words.domainsLead}</p>
${items.length > 0 && html`<ul class="cards">${items}</ul>${form(setup, '/domains/check', html`<button class="quiet" id="check">${words.check}</button>`)}`}
${form(setup, '/domains', html`<div class="field"><label for="domain">${words.domain}</label><input id="domain" name="domain" required maxlength="${domainCharsMax}" placeholder="example.com" autocomplete="off" spellcheck="false"></div><button id="add-domain">${words.addDomain}</button>`)}</section>`;
}

interface ProviderState {
  readonly typed: WantedProvider | undefined;
  readonly isTried: boolean;
}

function providerPart(
  setup: Setup,
  words: SetupPageTexts,
  provider: IdentityProvider | undefined,
  { typed, isTried }: ProviderState,
): Html {
  const state = provider === undefined ? words.noProvider : provider.enabled ? words.isOn : isTried ? words.isTried : words.isUntried;
  const acts =
    provider !== undefined &&
    html`<div class="bar">${form(setup, '/provider/try', html`<button id="try"${(isTried || provider.enabled) && html` class="quiet"`}>${words.tryIt}</button>`)}${
      provider.enabled
        ? form(setup, '/provider/off', html`<button class="quiet" id="turn-off">${words.turnOff}</button>`)
        : isTried && form(setup, '/provider/on', html`<button id="turn-on">${words.turnOn}</button>`)
    }</div>`;
  const saml = typed === undefined ? provider?.kind === 'saml' : typed.kind === 'saml';
  return html`<section aria-labelledby="provider"><h2 id="provider">2. ${words.provider}</h2><p>${words.providerLead}</p>
<p id="provider-state"><strong>${state}</strong></p>${acts}
<dl class="card"><dt>${words.callback}</dt><dd class="mono" id="callback">${callbackOf(setup)}</dd><dt>${words.entityId}</dt><dd class="mono">${callbackOf(setup)}/metadata</dd></dl>
<details class="card"${((provider === undefined && typed === undefined) || (typed !== undefined && !saml) || (provider !== undefined && !saml)) && html` open`}><summary>OpenID Connect</summary>
${form(
  setup,
  '/provider',
  html`<input type="hidden" name="kind" value="oidc"><div class="field"><label for="issuer">${words.issuer}</label><input id="issuer" name="issuer" type="url" required maxlength="${urlCharsMax}" value="${typed?.issuer ?? provider?.issuer ?? ''}" placeholder="https://login.example.com"></div>
<div class="field"><label for="client-id">${words.clientId}</label><input id="client-id" name="client_id" required maxlength="${nameCharsMax}" value="${typed?.clientId ?? provider?.clientId ?? ''}" autocomplete="off"></div>
<div class="field"><label for="client-secret">${words.clientSecret}</label><input id="client-secret" name="client_secret" type="password" maxlength="${providerSecretCharsMax}" autocomplete="off"></div><button id="save-oidc">${words.save}</button>`,
)}</details>
<details class="card"${saml && html` open`}><summary>SAML 2.0</summary>
${form(
  setup,
  '/provider',
  html`<input type="hidden" name="kind" value="saml"><div class="field"><label for="metadata">${words.metadata}</label><textarea id="metadata" name="metadata" required maxlength="${providerMetadataCharsMax}" rows="6" spellcheck="false">${typed?.metadata ?? ''}</textarea></div><button id="save-saml">${words.save}</button>`,
)}</details></section>`;
}

function rulePart(setup: Setup, words: SetupPageTexts, { signIn }: Organization, provider: IdentityProvider | undefined): Html {
  const choice = (value: string, text: string): Html =>
    html`<label class="check"><input type="radio" name="rule" value="${value}"${signIn === value && html` checked`}><span>${text}</span></label>`;
  return html`<section aria-labelledby="rule"><h2 id="rule">3. ${words.rule}</h2>${provider?.enabled !== true && html`<p>${words.ruleLater}</p>`}
${form(setup, '/rule', html`<fieldset><legend>${words.ruleLead}</legend>${choice('any', words.anyWay)}${choice('own_providers', words.ownAlone)}</fieldset><button id="save-rule">${words.save}</button>`)}</section>`;
}

function tokensPart(setup: Setup, words: SetupPageTexts, tokens: readonly ScimToken[], made: string | undefined): Html {
  const { request, organizationId } = setup;
  return html`<section aria-labelledby="scim"><h2 id="scim">4. ${words.scim}</h2><p>${words.scimLead}</p>
<dl class="card"><dt>${words.scimAddress}</dt><dd class="mono">${request.tenant.baseUrl}/v1/scim/organizations/${organizationId}</dd>
${made !== undefined && html`<dt>${words.tokenOnce}</dt><dd class="mono" id="token">${made}</dd>`}</dl>
${tokens.length > 0 && html`<ul class="cards">${tokens.map(({ id, name }) => html`<li class="card"><h3>${name}</h3>${form(setup, `/tokens/${id}/revoke`, html`<button class="quiet" aria-label="${words.revokeNamed(name)}">${words.revoke}</button>`)}</li>`)}</ul>`}
${form(setup, '/tokens', html`<div class="field"><label for="token-name">${words.tokenName}</label><input id="token-name" name="name" required maxlength="${nameCharsMax}" placeholder="Entra ID" autocomplete="off"></div><button id="add-token">${words.addToken}</button>`)}</section>`;
}
