// `/statistics`: what an overview shows. Counts come from maintained counters or scans that stop at a limit, so the answer costs
// the same in a large tenant; times to answer come from this node's histograms, and only where metrics are on.
import Type from 'typebox';
import { refusalActivity, signInActivity } from '../../audit/activity.ts';
import { statisticsCountMax, statisticsDaysMax } from '../../contract/limits.ts';
import { countWebPhones } from '../../storage/device/devices.ts';
import { loadDirectoryCount } from '../../storage/people/directory-counts.ts';
import { type ActivityCount, countUpTo, listActivity } from '../../storage/records/activity-counts.ts';
import { type Call, type Endpoint, endpoint, invalidField, isoTime, type Json } from '../endpoint.ts';
import { closed, dateTime, nullable } from '../schemas.ts';

const count = Type.Integer();
const directory = Type.Object(
  { users: count, groups: count, clients: count, resources: count, service_providers: count, web_phones: count },
  { description: `All but users are counted up to ${statisticsCountMax}.` },
);
const period = Type.Object({ from: dateTime, sign_ins: count, refusals: count });
const latency = Type.Object({ surface: Type.String(), requests: count, p50_seconds: Type.Number(), p99_seconds: Type.Number() });
const statisticsAnswer = Type.Object({
  directory,
  period_seconds: count,
  periods: Type.Array(period, { description: 'Oldest first; the last one is not over yet.' }),
  refusals: Type.Array(Type.Object({ row: Type.String(), count }), { description: 'By contract row, most frequent first.' }),
  latencies: nullable(Type.Array(latency, { description: 'Of this node since it started, all tenants; null where metrics are off.' })),
});
const daysDefault = 7;
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

export const statisticsEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/statistics',
    capability: 'events:read',
    summary: 'What an overview shows: counts, sign-ins and refusals by hour (one day) or day (UTC), times to answer',
    query: closed({ days: Type.Optional(Type.Integer()) }),
    answer: statisticsAnswer,
    status: 200,
    handle: async (call) => statisticsOf(call, call.query.days ?? daysDefault),
  }),
];

async function statisticsOf({ services, tenant }: Call<unknown, unknown>, days: number): Promise<Json> {
  if (days < 1 || days > statisticsDaysMax) throw invalidField('days', `This parameter must be from 1 to ${statisticsDaysMax}.`);
  const periodSeconds = days === 1 ? hourSeconds : daySeconds;
  const periodsShown = days === 1 ? 24 : days;
  const nowPeriod = Math.floor(services.clock.nowMs() / 1000 / periodSeconds);
  const fromMs = (nowPeriod - periodsShown + 1) * periodSeconds * 1000;
  await services.activity.flush();
  const { activity, ...rest } = await services.database.read(tenant.id, async (queries) => ({
    activity: await listActivity(queries, tenant.id, fromMs),
    users: await loadDirectoryCount(queries, tenant.id, 'users'),
    groups: await countUpTo(queries, tenant.id, 'groups', statisticsCountMax),
    clients: await countUpTo(queries, tenant.id, 'clients', statisticsCountMax),
    resources: await countUpTo(queries, tenant.id, 'resources', statisticsCountMax),
    service_providers: await countUpTo(queries, tenant.id, 'service_providers', statisticsCountMax),
    web_phones: await countWebPhones(queries, tenant.id, statisticsCountMax),
  }));
  return {
    directory: rest,
    period_seconds: periodSeconds,
    periods: periodsOf(activity, fromMs, periodSeconds, periodsShown),
    refusals: refusalsOf(activity),
    latencies: (await services.metrics?.latencies())?.map(latencyToJson) ?? null,
  };
}

/** In one pass: three months of a tenant under attack are some ten thousand counts, and the event loop is everybody's. */
function periodsOf(activity: readonly ActivityCount[], fromMs: number, seconds: number, shown: number): readonly Json[] {
  const startOf = (index: number): string => isoTime(fromMs + index * seconds * 1000);
  const periods = Array.from({ length: shown }, (_none, index) => ({ from: startOf(index), sign_ins: 0, refusals: 0 }));
  for (const { hourAtMs, name, n } of activity) {
    const period = periods[Math.floor((hourAtMs - fromMs) / (seconds * 1000))];
    if (period === undefined) continue;
    if (name === signInActivity) period.sign_ins += n;
    else if (name.startsWith(refusalActivity)) period.refusals += n;
  }
  return periods;
}

function refusalsOf(activity: readonly ActivityCount[]): readonly Json[] {
  const rows = new Map<string, number>();
  for (const { name, n } of activity) if (name.startsWith(refusalActivity)) rows.set(name, (rows.get(name) ?? 0) + n);
  return [...rows]
    .toSorted(([leftName, left], [rightName, right]) => right - left || (leftName < rightName ? -1 : 1))
    .map(([name, n]) => ({ row: name.slice(refusalActivity.length), count: n }));
}

function latencyToJson({ surface, requests, p50Seconds, p99Seconds }: Latency): Json {
  return { surface, requests, p50_seconds: p50Seconds, p99_seconds: p99Seconds };
}

type Latency = Awaited<ReturnType<NonNullable<Call<unknown, unknown>['services']['metrics']>['latencies']>>[number];
