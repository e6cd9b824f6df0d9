// `/push`: how pushes go, by vendor: whose credentials are used, whether the vendor refused them, what became of the pushes of a week.
import Type from 'typebox';
import { pushActivity } from '../../audit/activity.ts';
import { listPushRefusals, type PushProvider, pushProviders } from '../../storage/device/push-targets.ts';
import { listActivity } from '../../storage/records/activity-counts.ts';
import { type Call, type Endpoint, endpoint, isoTime, type Json } from '../endpoint.ts';
import { dateTime, nullable } from '../schemas.ts';

const outcomes = ['sent', 'gone', 'refused', 'rejected', 'failed', 'unsent'] as const;
const count = Type.Integer();
const providerAnswer = Type.Object({
  provider: Type.String({ description: 'apns, fcm or web' }),
  credentials: Type.String({ description: 'tenant, operator or none' }),
  refused: nullable(Type.Object({ at: dateTime, reason: Type.String() }, { description: 'The vendor did not take the credentials.' })),
  last_week: Type.Object(
    { sent: count, gone: count, refused: count, rejected: count, failed: count, unsent: count },
    { description: 'Pushes of seven days by what became of them.' },
  ),
});
const weekMs = 7 * 24 * 3_600_000;

export const pushEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/push',
    capability: 'devices:read',
    summary: 'How pushes go, by vendor',
    answer: Type.Object({ providers: Type.Array(providerAnswer) }),
    status: 200,
    handle: describePushes,
  }),
];

async function describePushes({ services, tenant }: Call<undefined, undefined>): Promise<Json> {
  await services.activity.flush();
  const { activity, refusals } = await services.database.read(tenant.id, async (queries) => ({
    activity: await listActivity(queries, tenant.id, services.clock.nowMs() - weekMs),
    refusals: await listPushRefusals(queries, tenant.id),
  }));
  const countOf = (name: string): number => activity.reduce((sum, counted) => (counted.name === name ? sum + counted.n : sum), 0);
  const credentialsOf = (provider: PushProvider): string => {
    if (provider === 'web' || tenant.settings.push[provider] !== null) return 'tenant';
    return services.push.operator[provider] === undefined ? 'none' : 'operator';
  };
  return {
    providers: pushProviders.map((provider) => {
      const refused = refusals.find((refusal) => refusal.provider === provider);
      return {
        provider,
        credentials: credentialsOf(provider),
        refused: refused === undefined ? null : { at: isoTime(refused.refused_at), reason: refused.reason },
        last_week: Object.fromEntries(outcomes.map((outcome) => [outcome, countOf(pushActivity(provider, outcome))])),
      };
    }),
  };
}
