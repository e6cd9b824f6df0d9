// Tokens that directories provision with, as a page makes, tries, lists and revokes them: the tenant's, and those of each organisation.
import type { FastifyReply } from 'fastify';
import { type ApiAnswer, callApi } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { askPage, isSure } from '../confirm-page.ts';
import { badge, postButton, shownTime } from '../console-page.ts';
import { finish, frameOf, itemsOf, manage, refusalText, type Visit } from '../console-visit.ts';
import { mayPost } from '../frame/allowed.ts';
import { itemOf, secretOf } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';

/** What they open. */
export const scopes = ['scim:read', 'scim:write'];

/** Whose tokens they are: the page below /console, where the Management API has them, the SCIM they open, and how the page is shown again. */
export interface TokenPlace {
  readonly page: string;
  readonly api: string;
  readonly surface: string;
  show(visit: Visit, shown: { readonly typed?: Typed; readonly notice?: Notice }): Promise<FastifyReply>;
}

export interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}

/** The token that was just made, a form for another, and those there are. */
export async function tokenSection(visit: Visit, place: TokenPlace, typed: Typed | undefined): Promise<Html> {
  const tokens = itemsOf(await manage(visit, 'GET', place.api));
  return html`${tokenPanel(visit)}${tokenForm(visit, place, typed)}${tokenTable(visit, place, tokens)}`;
}

type Json = Readonly<Record<string, unknown>>;

/** How long a token may live, in days. */
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'One year'],
  ['none', 'Without end'],
] as const;
const defaultLifetime = '365';

function tokenForm(visit: Visit, { page }: TokenPlace, typed: Typed | undefined): Html | undefined {
  if (!mayPost(visit, page) || !scopes.every((scope) => visit.allowed.has(scope))) return undefined;
  const chosen = typed?.get('days') ?? defaultLifetime;
  return html`<form class="card" method="post" action="${consolePath(visit.request.tenant, `${page}/tokens`)}">${csrfField(frameOf(visit))}
<div class="field"><label for="token-name">Name of the directory</label><input type="text" id="token-name" name="token_name" required maxlength="200" value="${typed?.get('token_name') ?? ''}" placeholder="Okta"></div>
<div class="field"><label for="days">It lives</label><select id="days" name="days">${lifetimes.map(([days, label]) => html`<option value="${days}"${days === chosen && html` selected`}>${label}</option>`)}</select></div>
<div class="bar end"><button id="new-token">New token</button></div></form>`;
}

/** The token that was just made. */
function tokenPanel(visit: Visit): Html | undefined {
  const secret = secretOf(visit, 'scim-token');
  return (
    secret &&
    html`<section class="panel" id="token" aria-label="The token"><p>Copy it now: this page shows it for ten minutes, and nothing shows it again.</p><pre id="scim-token">${itemOf(secret, 'token')}</pre></section>`
  );
}

function tokenTable(visit: Visit, { page }: TokenPlace, tokens: readonly Json[]): Html | undefined {
  if (tokens.length === 0) return undefined;
  const nowMs = visit.services.clock.nowMs();
  const ends = (at: unknown): Html | string => {
    if (typeof at !== 'string') return 'never';
    return Date.parse(at) <= nowMs ? html`${badge('ended', 'bad')} ${shownTime(at)}` : shownTime(at);
  };
  const mayWrite = mayPost(visit, page);
  const rows = tokens.map((token) => [
    html`<b>${String(token['name'])}</b>`,
    shownTime(token['created_at']),
    ends(token['expires_at']),
    shownTime(token['last_used_at']) || 'never',
    ...(mayWrite
      ? [
          postButton(frameOf(visit), {
            path: `${page}/tokens/${encodeURIComponent(String(token['id']))}/revoke`,
            label: 'Revoke…',
            style: 'small danger',
            of: String(token['name']),
          }),
        ]
      : []),
  ]);
  return table('Tokens', ['Name', 'Made', 'Ends', 'Last used', ...(mayWrite ? ['Revoke'] : [])], rows);
}

/** Makes a token and reads with it, and says what became of it. */
export async function makeToken(visit: Visit, place: TokenPlace, typed: Typed): Promise<FastifyReply> {
  const days = typed.get('days') ?? defaultLifetime;
  const answer = await manage(visit, 'POST', place.api, {
    name: (typed.get('token_name') ?? '').trim(),
    expires_in_days: days === 'none' ? null : Number(days),
  });
  if (answer.status !== 201) return place.show(visit, { typed, notice: { kind: 'bad', text: refusalText(answer) } });
  const token = String(answer.body['token']);
  const { kind, text } = noticeFor(await readWith(visit, place.surface, token), 'it works.');
  const items = [['token', token] as const];
  return finish(visit, place.page, `The token was made, ${kind === 'good' ? 'and' : 'but'} ${text}`, { kind: 'scim-token', items });
}

/** Revokes a token, once the question is answered. */
export async function revokeToken(visit: Visit, place: TokenPlace, typed: Typed, token: string): Promise<FastifyReply> {
  const path = `${place.page}/tokens/${encodeURIComponent(token)}/revoke`;
  if (!isSure(typed))
    return askPage(visit, {
      title: 'Revoke this token?',
      text: 'The directory that uses it is refused from its next request on. People and groups stay as they are.',
      label: 'Revoke',
      path,
      back: place.page,
    });
  const answer = await manage(visit, 'DELETE', `${place.api}/${encodeURIComponent(token)}`);
  return answer.status === 204
    ? finish(visit, place.page, 'The token was revoked.')
    : place.show(visit, { notice: { kind: 'bad', text: refusalText(answer) } });
}

export function noticeFor(steps: readonly Step[], good: string): Notice {
  const failed = steps.find((step) => !step.ok);
  return failed === undefined ? { kind: 'good', text: good } : { kind: 'bad', text: `${failed.name}: ${failed.text}` };
}

/** Reads as a directory does, without being one. */
export async function readWith({ app, request }: Visit, surface: string, bearer: string): Promise<readonly Step[]> {
  const read = async (path: string): Promise<ApiAnswer> =>
    callApi(app, request, { method: 'GET', path: `${surface}${path}`, bearer, isTrial: true });
  const features = await read('/ServiceProviderConfig');
  const users = await read('/Users?count=1');
  return [
    stepOf('ServiceProviderConfig', features, 200, () => 'The directory can read what is supported.'),
    stepOf('Users', users, 200, () => `${String(users.body['totalResults'])} users can be seen.`),
  ];
}

export function stepOf(name: string, answer: ApiAnswer, wanted: number, good: () => string): Step {
  if (answer.status === wanted) return { name, ok: true, text: good() };
  const { error, error_description: description, detail } = answer.body;
  const said = [error, description, detail].filter((part) => typeof part === 'string').join(': ');
  return { name, ok: false, text: `expected ${wanted}, found ${answer.status} ${said}` };
}
