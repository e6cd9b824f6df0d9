// The console's first page: what to do first, how many of what, sign-ins and refusals over time, refusals by contract row, times to answer, and
// the addresses applications need, by `/statistics` of the Management API; and whose sign-ins are under attack, by `/events`.
import type { FastifyReply } from 'fastify';
import { catalogue } from '../../contract/catalogue.ts';
import { type Html, html } from '../../platform/html.ts';
import type { TrialParts } from '../appearance/mail-trial.ts';
import { itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { mayGrant, maySee } from '../frame/allowed.ts';
import { consolePath, isOperatorTenant } from '../frame/navigation.ts';
import { chartStyle, columnChart, rankChart } from './charts.ts';
import { stepsPanel } from './first-steps.ts';
import { latestSignIns, signInsPanel } from './latest-sign-ins.ts';

type Json = Readonly<Record<string, unknown>>;

interface Statistics {
  readonly directory: Readonly<Record<string, number>>;
  readonly period_seconds: number;
  readonly periods: readonly { readonly from: string; readonly sign_ins: number; readonly refusals: number }[];
  readonly refusals: readonly { readonly row: string; readonly count: number }[];
  readonly latencies: readonly Latency[] | null;
}

interface Latency {
  readonly surface: string;
  readonly requests: number;
  readonly p50_seconds: number;
  readonly p99_seconds: number;
}

const countedMax = 10_000;
const rowsShown = 6;
const tiles = [
  ['/users', 'users', 'People'],
  ['/groups', 'groups', 'Groups'],
  ['/clients', 'clients', 'Applications'],
  ['/resources', 'resources', 'APIs'],
  ['/service-providers', 'service_providers', 'SAML applications'],
] as const;
const choices = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
] as const;

export async function overviewPage(visit: Visit, services: TrialParts): Promise<FastifyReply> {
  if (!maySee(visit, '/activity')) return showPage(visit, 'Overview', html`${shortcuts(visit)}${withoutActivity}${addresses(visit)}`);
  const wanted = visit.query.get('days');
  const days = choices.find(([choice]) => choice === wanted)?.[0] ?? '7';
  const answer = await manage(visit, 'GET', `/statistics?days=${days}`);
  if (answer.status !== 200) return showPage(visit, 'Overview', addresses(visit), { kind: 'bad', text: refusalText(answer) });
  const statistics = answer.body as unknown as Statistics; // the shape the API answers
  const [blocks, signIns] = await Promise.all([listBlocks(visit), latestSignIns(visit)]);
  return showPage(
    visit,
    'Overview',
    html`${!visit.request.tenant.canMail && mailNotice(visit)}${blocks.length > 0 && blockNotice(visit, blocks)}${await stepsPanel(visit, services, statistics.directory)}${shortcuts(visit)}<div class="tiles">${tiles.map(([path, name, label]) => tile(visit, path, label, statistics.directory[name] ?? 0, name !== 'users'))}</div>
<section class="panel"><div class="bar spread"><h2>Sign-ins and refusals</h2>${periodChoice(visit, days)}</div>${activityChart(statistics)}</section>
${signInsPanel(visit, signIns)}
<div class="split"><section class="panel"><h2>Refusals by contract row</h2>${refusalRanks(visit, statistics)}</section><section class="panel"><h2>Time to answer</h2>${latencyRanks(statistics)}</section></div>
${addresses(visit)}
${isOperatorTenant(visit.request.tenant) && html`<p class="muted">You are an operator of this deployment: <a href="${consolePath(visit.request.tenant, '/tenants')}">manage its tenants</a>.</p>`}`,
    undefined,
    { style: chartStyle },
  );
}

const withoutActivity = html`<p class="muted" id="no-activity">You need the right to read events to see sign-ins and refusals. The menu shows what your role allows.</p>`;

const mailNotice = ({ request }: Visit): Html =>
  html`<p class="notice bad" id="no-mail">Mails reach nobody: the deployment has no GATEHOUSE_SMTP_URL, and this tenant has no <a href="${consolePath(request.tenant, '/mail')}">mail server of its own</a>. Nobody gets a mailed code unless the settings offer mailed codes, and links of invitations are yours to copy and send.</p>`;

/** What administrators come for most often, before everything else; on a phone the menu would be one step more. */
const shortcuts = (visit: Visit): Html =>
  html`<div class="bar spread">${maySee(visit, '/users') && findPeople(visit)}${
    mayGrant(visit) &&
    html`<a class="button quiet" href="${consolePath(visit.request.tenant, '/administrators/new')}">Add administrator</a>`
  }</div>`;

const findPeople = ({ request }: Visit): Html =>
  html`<form class="search" id="find-people" method="get" action="${consolePath(request.tenant, '/users')}" role="search"><label class="hidden" for="search">Any part of a name or email</label><input type="search" id="search" name="search" placeholder="Any part of a name or email" maxlength="200"><button class="quiet">Find people</button></form>`;

const blocksShown = 50;
const dayMs = 86_400_000;

/** Who said twice within ten minutes, today, that sign-ins were not theirs. */
async function listBlocks(visit: Visit): Promise<readonly Json[]> {
  const from = new Date(visit.services.clock.nowMs() - dayMs).toISOString();
  return itemsOf(await manage(visit, 'GET', `/events?type=user.sign_ins_blocked&limit=${blocksShown}&from=${from}`));
}

function blockNotice(visit: Visit, blocks: readonly Json[]): Html {
  const people = new Set(blocks.map((event) => event['target'])).size;
  const who = people === 1 ? 'One person has' : `${people}${blocks.length === blocksShown ? ' or more' : ''} people have`;
  return html`<p class="notice bad" id="blocked">${who} said twice within ten minutes that sign-ins were not theirs; their phones were left in peace for fifteen. <a href="${consolePath(visit.request.tenant, '/events')}?type=user.sign_ins_blocked">Who it was</a></p>`;
}

function tile(visit: Visit, path: string, label: string, count: number, isBounded: boolean): Html {
  const more = isBounded && count >= countedMax ? '+' : '';
  return html`<a class="tile" href="${consolePath(visit.request.tenant, path)}"><span>${label}</span><b>${count.toLocaleString('en')}${more}</b></a>`;
}

function periodChoice(visit: Visit, days: string): Html {
  return html`<nav class="choose tabs-plain" aria-label="Period">${choices.map(
    ([choice, name]) =>
      html`<a href="${consolePath(visit.request.tenant, `?days=${choice}`)}"${choice === days && html` aria-current="true"`}>${name}</a>`,
  )}</nav>`;
}

function activityChart({ periods, period_seconds: seconds }: Statistics): Html {
  const labelOf = (from: string): string => (seconds < 86_400 ? `${from.slice(11, 16)} UTC` : from.slice(0, 10));
  return columnChart(
    'Sign-ins and refusals over time',
    periods.map(({ from }) => labelOf(from)),
    [
      { name: 'Sign-ins', style: 'a', values: periods.map((period) => period.sign_ins) },
      { name: 'Refusals', style: 'b', values: periods.map((period) => period.refusals) },
    ],
  );
}

function refusalRanks(visit: Visit, { refusals }: Statistics): Html {
  if (refusals.length === 0) return html`<p class="muted">Nothing was refused in this period.</p>`;
  const most = refusals[0]?.count ?? 1;
  const meaning = (row: string): string => (Object.hasOwn(catalogue, row) ? catalogue[row as keyof typeof catalogue].section : ''); // own key of the catalogue
  return html`${rankChart(
    'Refusals by contract row',
    refusals.slice(0, rowsShown).map(({ row, count }) => ({
      name: html`<code>${row}</code> <span class="muted">${meaning(row)}</span>`,
      shown: count.toLocaleString('en'),
      value: count,
      style: 'b',
    })),
    most,
  )}<p class="scale"><a href="${consolePath(visit.request.tenant, '/explain')}">Explain a refusal</a></p>`;
}

const shownMs = (seconds: number): string => `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;

function latencyRanks({ latencies }: Statistics): Html {
  if (latencies === null)
    return html`<p class="muted">Metrics are off on this server. Set <code>GATEHOUSE_METRICS_LISTEN</code> to see times here.</p>`;
  if (latencies.length === 0) return html`<p class="muted">No request yet.</p>`;
  const busiest = latencies.toSorted((left, right) => right.requests - left.requests).slice(0, rowsShown);
  const most = Math.max(...busiest.map((entry) => entry.p99_seconds));
  return html`${rankChart(
    'Times to answer by surface',
    busiest.map(({ surface, requests, p50_seconds: p50, p99_seconds: p99 }) => ({
      name: html`${surface} <span class="muted">${requests.toLocaleString('en')} requests</span>`,
      shown: `${shownMs(p50)} · ${shownMs(p99)}`,
      value: p50,
      style: 'a' as const,
      behind: p99,
    })),
    most,
  )}<p class="scale">p50 · p99 of the busiest, estimated from the histogram of the node that drew this page, all tenants, since it started.</p>`;
}

function addresses(visit: Visit): Html {
  const { baseUrl, managementApi } = visit.request.tenant;
  const facts = [
    ['Issuer', baseUrl],
    ['Discovery', `${baseUrl}/.well-known/openid-configuration`],
    ['SAML metadata', `${baseUrl}/v1/idp/saml/metadata`],
    ['SCIM', `${baseUrl}/scim/v2`],
    ['Management API', managementApi],
  ] as const;
  return html`<section class="panel"><h2>Addresses</h2><dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}</dl></section>`;
}
