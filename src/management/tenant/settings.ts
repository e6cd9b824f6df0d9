// `/settings`: the tenant's settings with their bounds (design 02). PATCH merges object by object; lists and null replace.
import Type from 'typebox';
import { changeOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { changeSettings, shownSettings } from '../../administration/settings.ts';
import { neededFor } from '../../domain/field.ts';
import { rateLimitParts, settingFields } from '../../domain/tenant/settings.ts';
import { listKeylessAdministrators } from '../../storage/people/own-keys.ts';
import { byOf, type Call, type Endpoint, endpoint, invalidField, type Json, notFound, requireCapabilities } from '../endpoint.ts';

const settingsAnswer = Type.Object({}, { description: 'Every setting; the PATCH body names them.' });

export const settingsEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/settings',
    capability: 'settings:read',
    orCapability: 'sign-in:read',
    summary: 'Read the settings, defaults included',
    answer: settingsAnswer,
    status: 200,
    handle: async ({ tenant }) => shownSettings(tenant.settings),
  }),
  endpoint({
    method: 'PATCH',
    path: '/settings',
    capability: 'settings:write',
    orCapability: 'sign-in:write',
    actsOn: async (queries, { tenant, body }) => (namesMailServer(body as Json) ? listKeylessAdministrators(queries, tenant.id) : []),
    summary: 'Merge changes into the settings; each needs the capability that it names; a rate limit set to null is off',
    body: changeOf(propertiesOf(settingFields)),
    answer: settingsAnswer,
    status: 200,
    handle: change,
  }),
];

/** Whoever names the server reads every mailed code, as at `/mail-server`. */
const namesMailServer = ({ smtp }: Json): boolean => typeof smtp === 'object' && smtp !== null && 'server' in smtp && smtp.server !== null;

async function change(call: Call<undefined, Json>): Promise<unknown> {
  const { services, tenant, body, scopes } = call;
  requireCapabilities(neededFor(settingFields, body), scopes);
  for (const [limit, value] of Object.entries((body['rate_limits'] ?? {}) as Json))
    requireWholeLimit(limit, value, tenant.settings.rate_limits as Json);
  const changed = await changeSettings(services, tenant, body, byOf(call));
  if (changed.ok) return shownSettings(changed.settings);
  if (changed.reason === 'unknown') throw notFound('unknown_tenant');
  throw invalidField(changed.fault.field, `This field ${changed.fault.text}.`);
}

/** A limit that is off has nothing to merge into: both numbers are needed to switch it on. */
function requireWholeLimit(limit: string, value: unknown, before: Json): void {
  if (value === null || (before[limit] !== null && before[limit] !== undefined)) return;
  for (const part of rateLimitParts)
    if (!Object.hasOwn(value as object, part)) throw invalidField(`rate_limits.${limit}.${part}`, 'This field is required.');
}
