// The metadata of a service provider, both ways: what we give it, with the keys that sign for it and their rotation, and what is read
// from its own address, with the addresses that wait for approval. Every change is a call on the Management API.
import type { FastifyReply } from 'fastify';
import { unreadWords } from '../administration/saml/unread-words.ts';
import type { Typed } from '../first-party/app-form.ts';
import type { Notice } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { text } from './cells.ts';
import { askPage, isSure } from './confirm-page.ts';
import { badge, postButton, shownTime } from './console-page.ts';
import { consoleResource } from './console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import { pathOf, tabBar } from './resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const resource = consoleResource('/service-providers');
const tab = '/metadata';
const ownOf = (params: Params): string => pathOf(resource, params['id'] ?? '');

const keyChosen: Readonly<Record<string, string>> = {
  own: 'It has keys of its own now. They sign from their first rotation.',
  tenant: 'The key of the tenant signs for it again.',
};

export async function metadataPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const own = ownOf(params);
  const [provider, state, keys] = await Promise.all([
    manage(visit, 'GET', own),
    manage(visit, 'GET', `${own}/metadata-refresh`),
    manage(visit, 'GET', `${own}/signing-keys`),
  ]);
  const failed = [provider, state, keys].find(({ status }) => status !== 200);
  if (failed !== undefined) return showMissing(visit, resource.singular, failed);
  return showPage(
    visit,
    resource.titleOf(provider.body),
    html`${tabBar(visit, resource, params['id'] ?? '', tab)}${waitingPanel(visit, own, state.body)}
<div class="split">${oursPanel(visit, own, provider.body, itemsOf(keys))}${theirsPanel(visit, own, state.body)}</div>`,
    notice,
  );
}

function oursPanel(visit: Visit, own: string, provider: Json, keys: readonly Json[]): Html {
  const { baseUrl } = visit.request.tenant;
  const path = `v1/idp/saml/metadata/${encodeURIComponent(String(provider['id']))}`;
  return html`<section class="panel"><h2>Ours, for this provider</h2>
<dl><dt>Metadata</dt><dd><a href="../../../${path}"><code>${baseUrl}/${path}</code></a></dd>
<dt>Entity ID</dt><dd><code>${baseUrl}/v1/idp/saml/metadata</code></dd>
<dt>Sign-in address</dt><dd><code>${baseUrl}/v1/idp/saml/sso</code></dd></dl>
<h2>What signs for it</h2>${provider['signing_key'] === 'own' ? ownKeys(visit, own, keys) : tenantKey(visit, own)}</section>`;
}

function tenantKey(visit: Visit, own: string): Html {
  return html`<p>${badge('key of the tenant', 'plain')} Shared with every provider that has none of its own: <a href="${consolePath(visit.request.tenant, '/signing-keys')}">signing keys</a>.</p>
${postButton(frameOf(visit), { path: `${own}${tab}/key`, label: 'Give it keys of its own', style: 'quiet', id: 'own-keys', fields: { signing_key: 'own' } })}`;
}

const keyStates: Readonly<Record<string, 'good' | 'bad' | 'plain'>> = { current: 'good', retired: 'bad' };

function ownKeys(visit: Visit, own: string, keys: readonly Json[]): Html {
  const signs = keys.some((key) => key['state'] === 'current');
  const isUnread = keys.some((key) => (key['stale'] as readonly Json[]).length > 0); // the API's own answer
  const list = keys.map(
    (key) =>
      html`<li><span>${badge(text(key['state']), keyStates[text(key['state'])] ?? 'plain')} <code>${text(key['kid']).slice(0, 12)}…</code></span><span class="muted">${
        key['rotatable_at'] === null ? html`made ${shownTime(key['created_at'])}` : html`may sign from ${shownTime(key['rotatable_at'])}`
      }</span></li>`,
  );
  const hint = isUnread
    ? html`<p>${badge('not read', 'bad')} The provider has not fetched its metadata since the next key appeared.</p>`
    : html`<p>${badge('read', 'good')} The provider has fetched its metadata since the next key appeared.</p>`;
  const button = (fields: Readonly<Record<string, string>>, name: string, label: string, id: string): Html =>
    postButton(frameOf(visit), { path: `${own}${tab}/${name}`, label, style: 'quiet', id, fields });
  return html`<p>${signs ? badge('its own key', 'good') : html`${badge('key of the tenant', 'plain')} until the first rotation`}</p>${hint}
<ul class="keys">${list}</ul>
<div class="bar end">${button({}, 'rotate', 'Rotate…', 'rotate-own')}${button({ signing_key: 'tenant' }, 'key', 'Back to the key of the tenant…', 'tenant-key')}</div>`;
}

function theirsPanel(visit: Visit, own: string, state: Json): Html {
  const url = state['metadata_url'];
  if (typeof url !== 'string')
    return html`<section class="panel"><h2>Theirs</h2><p class="muted">Its metadata is not read again. With its address, under <a href="${consolePath(visit.request.tenant, own)}#field-metadata_url">Details</a>, keys and addresses are taken over as they change.</p></section>`;
  const failure = text(state['failure']);
  const told = unreadWords(failure) ?? failure;
  const how =
    failure !== ''
      ? html`${badge('failed', 'bad')} ${told} What was taken before stays.`
      : state['tried_at'] === null
        ? badge('not read yet', 'plain')
        : badge('taken', 'good');
  const remarks = state['remarks'] as { readonly left_out: readonly Json[]; readonly warnings: readonly string[] } | null; // the API's
  const notes = [
    ...(remarks?.warnings ?? []).map((warning) => html`<li>${warning}</li>`),
    ...(remarks?.left_out ?? []).map(({ item, reason }) => html`<li><b>${text(item)}</b>: ${text(reason)}</li>`),
  ];
  return html`<section class="panel"><h2>Theirs</h2>
<dl><dt>Address</dt><dd><code>${url}</code></dd><dt>Last reading</dt><dd>${how}</dd>
<dt>Tried</dt><dd>${shownTime(state['tried_at']) || 'never'}</dd><dt>Last taken</dt><dd>${shownTime(state['refreshed_at']) || 'never'}</dd>
<dt>Next</dt><dd>${shownTime(state['next_at'])}</dd></dl>
${notes.length > 0 && html`<details><summary>Remarks on the last copy (${String(notes.length)})</summary><ul>${notes}</ul></details>`}
<div class="bar end">${postButton(frameOf(visit), { path: `${own}${tab}/refresh`, label: 'Read it now', style: 'quiet', id: 'refresh' })}</div></section>`;
}

function waitingPanel(visit: Visit, own: string, state: Json): Html | undefined {
  const waiting = state['waiting'] as readonly Json[]; // the API's own answer
  if (waiting.length === 0) return undefined;
  const hosts = state['waiting_hosts'] as readonly string[];
  const list = hosts.map(
    (host) =>
      html`<li><span><b>${host}</b>${waiting
        .filter((acs) => URL.parse(text(acs['url']))?.host === host)
        .map((acs) => html`<br><code>${text(acs['url'])}</code>`)}</span>${postButton(frameOf(visit), {
        path: `${own}${tab}/approve`,
        label: 'Approve…',
        style: 'small',
        fields: { host },
        of: host,
      })}</li>`,
  );
  return html`<section class="panel" id="waiting"><h2>Waiting for approval</h2>
<p>Its metadata names hosts that answers have never been sent to. Until you approve one, nothing is sent there.</p><ul class="keys">${list}</ul></section>`;
}

/** Makes a provider's own ring sign for it, or the tenant's key again. */
export async function chooseKey(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const own = ownOf(params);
  const signingKey = typed.get('signing_key') ?? '';
  if (signingKey === 'tenant' && !isSure(typed))
    return askPage(visit, {
      title: 'Back to the key of the tenant?',
      text: 'The certificate of the tenant signs from now on. The provider refuses sign-ins until it has it. Its own keys are kept.',
      label: 'Use the key of the tenant',
      path: `${own}${tab}/key`,
      back: `${own}${tab}`,
      fields: { signing_key: signingKey },
    });
  const answer = await manage(visit, 'PATCH', own, { signing_key: signingKey });
  return answer.status === 200
    ? finish(visit, `${own}${tab}`, keyChosen[signingKey] ?? 'Saved.')
    : metadataPage(visit, params, bad(answer));
}

export async function rotateOwn(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const own = ownOf(params);
  const path = `${own}${tab}/rotate`;
  if (!isSure(typed)) {
    const keys = itemsOf(await manage(visit, 'GET', `${own}/signing-keys`));
    const from = keys.find((key) => key['state'] === 'next')?.['rotatable_at'];
    const isYoung = typeof from === 'string' && Date.parse(from) > visit.services.clock.nowMs();
    const question = { title: 'Rotate its key?', path, back: `${own}${tab}` };
    return askPage(visit, {
      ...question,
      text: isYoung
        ? `The next certificate may sign from ${from.slice(0, 10)}: before that, a provider that reads metadata rarely may not know it and refuse sign-ins.`
        : 'The next certificate signs from now on. A provider that took the old one by hand, or has not read the new one, must be given it.',
      label: isYoung ? 'Rotate all the same' : 'Rotate',
      fields: isYoung ? { force: 'yes' } : {},
    });
  }
  const answer = await manage(visit, 'POST', `${own}/signing-keys`, typed.get('force') === 'yes' ? { force: true } : {});
  return answer.status === 201
    ? finish(visit, `${own}${tab}`, 'The next key signs from now on.')
    : metadataPage(visit, params, bad(answer));
}

export async function refreshNow(visit: Visit, params: Params): Promise<FastifyReply> {
  const own = ownOf(params);
  const answer = await manage(visit, 'POST', `${own}/metadata-refresh`);
  if (answer.status !== 200) return metadataPage(visit, params, bad(answer));
  if (answer.body['failure'] === null) return finish(visit, `${own}${tab}`, 'Its metadata was read.');
  return metadataPage(visit, params, { kind: 'bad', text: 'Its metadata could not be taken.' });
}

export async function approveHost(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const own = ownOf(params);
  const host = typed.get('host') ?? '';
  if (!isSure(typed))
    return askPage(visit, {
      title: `Approve ${host}?`,
      text: 'Sign-ins can be answered there from now on, so the owner of that host learns who signs in. Ask the provider whether the host is theirs.',
      label: 'Approve',
      path: `${own}${tab}/approve`,
      back: `${own}${tab}`,
      fields: { host },
    });
  const answer = await manage(visit, 'POST', `${own}/metadata-refresh/approve`, { hosts: [host] });
  return answer.status === 200
    ? finish(visit, `${own}${tab}`, `${host} is approved. Answers may go there from now on.`)
    : metadataPage(visit, params, bad(answer));
}

const bad = (answer: Parameters<typeof refusalText>[0]): Notice => ({ kind: 'bad', text: refusalText(answer) });
