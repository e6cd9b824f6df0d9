// The console's first page: how many of what, sign-ins and refusals over time, refusals by contract row, times to answer, and
// the addresses applications need. All of it is one answer of the Management API (`/statistics`).
import type { FastifyReply } from 'fastify';
import { catalogue } from '../../contract/catalogue.ts';
import { type Html, html } from '../../platform/html.ts';
import { columnChart, rankChart } from './charts.ts';
import { consolePath, isOperatorTenant } from './console-page.ts';
import { manage, refusalText, showPage, type Visit } from './console-visit.ts';

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
const rowsShown = 8;
const tiles = [
  ['/users', 'users', 'Users'],
  ['/groups', 'groups', 'Groups'],
  ['/clients', 'clients', 'Clients'],
  ['/resources', 'resources', 'Resources'],
  ['/service-providers', 'service_providers', 'Service providers'],
] as const;
const choices = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
] as const;

export async function overviewPage(visit: Visit): Promise<FastifyReply> {
  const wanted = visit.query.get('days');
  const days = choices.find(([choice]) => choice === wanted)?.[0] ?? '7';
  const answer = await manage(visit, 'GET', `/statistics?days=${days}`);
  if (answer.status !== 200) return showPage(visit, 'Overview', addresses(visit), { kind: 'bad', text: refusalText(answer) });
  const statistics = answer.body as unknown as Statistics; // the shape the API answers
  return showPage(
    visit,
    'Overview',
    html`<div class="tiles">${tiles.map(([path, name, label]) => tile(visit, path, label, statistics.directory[name] ?? 0, name !== 'users'))}</div>
<section class="panel"><div class="bar spread"><h2>Sign-ins and refusals</h2>${periodChoice(visit, days)}</div>${activityChart(statistics)}</section>
<div class="split"><section class="panel"><h2>Refusals by contract row</h2>${refusalRanks(visit, statistics)}</section><section class="panel"><h2>Time to answer</h2>${latencyRanks(statistics)}</section></div>
${addresses(visit)}
${isOperatorTenant(visit.request.tenant) && html`<p class="muted">You are an operator of this deployment: <a href="${consolePath(visit.request.tenant, '/tenants')}">manage its tenants</a>.</p>`}`,
  );
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
  const most = Math.max(...latencies.map((entry) => entry.p99_seconds));
  return html`${rankChart(
    'Times to answer by surface',
    latencies.map(({ surface, requests, p50_seconds: p50, p99_seconds: p99 }) => ({
      name: html`${surface} <span class="muted">${requests.toLocaleString('en')} requests</span>`,
      shown: `${shownMs(p50)} · ${shownMs(p99)}`,
      value: p50,
      style: 'a' as const,
      behind: p99,
    })),
    most,
  )}<p class="scale">p50 · p99, estimated from the histogram of the process that drew this page, all tenants, since it started.</p>`;
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
