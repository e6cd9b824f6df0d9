// Devices and enrolments of users (design 02, 05): an administrator hands out an enrolment token, sees devices, revokes a
// device or one of its key slots. A revocation acts at the next request of the phone.
import Type from 'typebox';
import { createEnrollment, recordEnrollment } from '../../administration/people/enrollments.ts';
import { sendPush } from '../../approvals/pushed/push-sending.ts';
import type { TenantId } from '../../domain/ids.ts';
import { randomId } from '../../platform/random.ts';
import {
  type Device,
  type DeviceSlot,
  findDevice,
  listDeviceKeys,
  listDevicesOfUser,
  revokeDevice,
  revokeDeviceKey,
} from '../../storage/device/devices.ts';
import { pushProviderOf } from '../../storage/device/push-targets.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { holdUser } from '../../storage/people/users.ts';
import { audit, type Call, type Endpoint, endpoint, isoTime, type Json, notFound } from '../endpoint.ts';
import { requireOverHeld } from '../over-people.ts';
import { closed, dateTime, listAnswer, nullable } from '../schemas.ts';
import { loadUser, unknownUser } from './user-of-path.ts';

/** How long a test push is of use. */
const testPushMs = 5 * 60_000;
const read = 'devices:read';
const write = 'devices:write';

const keyAnswer = Type.Object({
  key_id: Type.String(),
  purpose: Type.String(),
  alg: Type.String(),
  state: Type.String({ description: 'active, rotating (the previous key still works) or revoked' }),
  created_at: dateTime,
  rotated_at: nullable(dateTime),
});
const pushAnswer = Type.Object(
  { at: dateTime, outcome: Type.String(), reason: nullable(Type.String()) },
  {
    description:
      'The last push: sent, gone (the token was dropped), refused (credentials), rejected, failed or unsent; the vendor’s reason.',
  },
);
const deviceAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  state: Type.String({ description: 'active or revoked' }),
  platform: Type.String(),
  name: Type.String(),
  model: nullable(Type.String()),
  os_version: nullable(Type.String()),
  app_version: nullable(Type.String()),
  push_provider: Type.String({ description: 'apns, fcm, web or none' }),
  push: nullable(pushAnswer),
  attestation_format: nullable(Type.String()),
  key_protection: nullable(
    Type.String({ description: 'attested, webauthn, webauthn_synced (may be copied to other machines) or claimed; null: not recorded' }),
  ),
  keys: Type.Array(keyAnswer),
  created_at: dateTime,
  revoked_at: nullable(dateTime),
});

export const deviceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users/:id/enrollments',
    capability: write,
    summary: 'Make an enrolment token; it and its QR link are shown once',
    body: Type.Union([closed({ require_pin: Type.Optional(Type.Boolean()) }), Type.Undefined()]),
    answer: Type.Object({ enrollment_token: Type.String(), qr_uri: Type.String(), expires_at: dateTime }),
    status: 201,
    handle: async (call) => makeEnrollment(call, call.body?.require_pin ?? false),
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/devices',
    capability: read,
    summary: 'List the devices of a user, oldest first',
    answer: listAnswer(deviceAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const user = await loadUser(queries, tenant.id, params['id']!);
        const devices = await listDevicesOfUser(queries, tenant.id, user.id);
        return { items: await Promise.all(devices.map((device) => describe(queries, tenant.id, device))) };
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/devices/:id',
    capability: read,
    summary: 'Read a device',
    answer: deviceAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) =>
        describe(queries, tenant.id, await loadDevice(queries, tenant.id, params['id']!)),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/devices/:id/test-push',
    capability: write,
    actsOn: ownerOf,
    summary: 'Send a test push to a device and wait for its vendor, ten seconds at most',
    answer: Type.Object({
      outcome: Type.String({ description: 'sent, gone, refused, rejected, failed or unsent' }),
      reason: nullable(Type.String()),
    }),
    status: 200,
    handle: testPush,
  }),
  endpoint({
    method: 'DELETE',
    path: '/devices/:id',
    capability: write,
    actsOn: ownerOf,
    summary: 'Revoke a device for good',
    answer: undefined,
    status: 204,
    handle: async (call) =>
      change(call, 'device.revoked', (queries, device) => revokeDevice(queries, call.tenant.id, device.id), 'no_active_device'),
  }),
  endpoint({
    method: 'DELETE',
    path: '/devices/:id/keys/:key_id',
    capability: write,
    actsOn: ownerOf,
    summary: 'Revoke one key slot of a device for good',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const keyId = call.params['key_id']!.toLowerCase();
      await change(
        call,
        'device.key_revoked',
        (queries, device) => revokeDeviceKey(queries, call.tenant.id, device.id, keyId),
        'no_such_key',
      );
    },
  }),
];

async function makeEnrollment(call: Call<undefined, unknown>, requirePin: boolean): Promise<Json> {
  const { services, tenant, params, actor, requestId } = call;
  const made = await services.database.write(tenant.id, async (queries) => {
    const user = await holdUser(queries, services.database.dialect, tenant.id, params['id']!);
    if (user === undefined) throw unknownUser();
    await requireOverHeld(queries, call, user.id);
    const enrollment = await createEnrollment(queries, services, tenant, user.id, requirePin);
    await recordEnrollment(queries, services, tenant, { actor, requestId }, { userId: user.id, requirePin });
    return enrollment;
  });
  return { enrollment_token: made.token, qr_uri: made.qrUri, expires_at: isoTime(made.expiresAtMs) };
}

async function testPush(call: Call<undefined, undefined>): Promise<Json> {
  const { services, tenant, params } = call;
  const device = await services.database.read(tenant.id, (queries) => loadDevice(queries, tenant.id, params['id']!));
  const subject = { type: 'test', id: randomId(), expiresAtMs: services.clock.nowMs() + testPushMs } as const;
  const attempt = await sendPush(services, tenant, device, subject);
  const { outcome, reason } = attempt ?? { outcome: 'unsent', reason: 'no_token' };
  await services.database.write(tenant.id, (queries) =>
    audit(call, queries, { type: 'device.push_tested', target: `device:${device.id}`, data: { user: device.user_id, outcome, reason } }),
  );
  return { outcome, reason: reason ?? null };
}

async function change(
  call: Call<undefined, undefined>,
  type: 'device.revoked' | 'device.key_revoked',
  work: (queries: Queries, device: Device) => Promise<boolean>,
  missing: string,
): Promise<undefined> {
  const { services, tenant, params } = call;
  await services.database.write(tenant.id, async (queries) => {
    const device = await loadDevice(queries, tenant.id, params['id']!);
    if (!(await work(queries, device))) throw notFound(missing);
    const data = { user: device.user_id, key: params['key_id'] };
    await audit(call, queries, { type, target: `device:${device.id}`, data });
  });
  return undefined;
}

async function ownerOf(
  queries: Queries,
  { tenant, params }: Pick<Call<unknown, unknown>, 'tenant' | 'params'>,
): Promise<readonly string[]> {
  const device = await findDevice(queries, tenant.id, params['id']!.toLowerCase());
  return device === undefined ? [] : [device.user_id];
}

async function loadDevice(queries: Queries, tenant: TenantId, id: string): Promise<Device> {
  const device = await findDevice(queries, tenant, id.toLowerCase());
  if (device === undefined) throw notFound('unknown_device');
  return device;
}

async function describe(queries: Queries, tenant: TenantId, device: Device): Promise<Json> {
  const keys = await listDeviceKeys(queries, tenant, device.id);
  return {
    id: device.id,
    user_id: device.user_id,
    state: device.state,
    platform: device.platform,
    name: device.name,
    model: device.model,
    os_version: device.os_version,
    app_version: device.app_version,
    push_provider: pushProviderOf(device),
    push: describePush(device),
    attestation_format: device.attestation_format,
    key_protection: device.key_protection,
    keys: keys.map(describeKey),
    created_at: isoTime(device.created_at),
    revoked_at: device.revoked_at === null ? null : isoTime(device.revoked_at),
  };
}

function describePush({ push_tried_at: at, push_outcome: outcome, push_reason: reason }: Device): Json | null {
  return at === null || outcome === null ? null : { at: isoTime(at), outcome, reason };
}

function describeKey(key: DeviceSlot): Json {
  return {
    key_id: key.key_id,
    purpose: key.purpose,
    alg: key.alg,
    state: key.revoked_at !== null ? 'revoked' : key.overlap === 1 ? 'rotating' : 'active',
    created_at: isoTime(key.created_at),
    rotated_at: key.rotated_at === null ? null : isoTime(key.rotated_at),
  };
}
