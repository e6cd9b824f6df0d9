// Devices and enrolments of users (design 02, 05): an administrator hands out an enrolment token, sees devices, revokes a
// device or one of its key slots. A revocation acts at the next request of the phone.
import Type from 'typebox';
import { createEnrollment, recordEnrollment } from '../administration/enrollments.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from '../storage/database.ts';
import {
  type DeviceSlot,
  type DeviceTable,
  findDevice,
  listDeviceKeys,
  listDevicesOfUser,
  revokeDevice,
  revokeDeviceKey,
} from '../storage/devices.ts';
import { findUser, type UserTable } from '../storage/users.ts';
import { audit, type Call, type Endpoint, endpoint, isoTime, type Json, notFound } from './endpoint.ts';
import { closed, dateTime, listAnswer, nullable } from './schemas.ts';

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
const deviceAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  state: Type.String({ description: 'active or revoked' }),
  platform: Type.String(),
  name: Type.String(),
  model: nullable(Type.String()),
  os_version: nullable(Type.String()),
  app_version: nullable(Type.String()),
  push_provider: Type.String(),
  attestation_format: nullable(Type.String()),
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
    method: 'DELETE',
    path: '/devices/:id',
    capability: write,
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
    const user = await loadUser(queries, tenant.id, params['id']!);
    const enrollment = await createEnrollment(queries, services, tenant, user.id, requirePin);
    await recordEnrollment(queries, services, tenant, { actor, requestId }, user.id, requirePin);
    return enrollment;
  });
  return { enrollment_token: made.token, qr_uri: made.qrUri, expires_at: isoTime(made.expiresAtMs) };
}

async function change(
  call: Call<undefined, undefined>,
  type: string,
  work: (queries: Queries, device: DeviceTable) => Promise<boolean>,
  missing: string,
): Promise<undefined> {
  const { services, tenant, params } = call;
  await services.database.write(tenant.id, async (queries) => {
    const device = await loadDevice(queries, tenant.id, params['id']!);
    if (!(await work(queries, device))) throw notFound(missing);
    await audit(call, queries, { type, target: `device:${device.id}`, data: { user: device.user_id, key: params['key_id'] } });
  });
  return undefined;
}

async function loadUser(queries: Queries, tenant: TenantId, id: string): Promise<UserTable & { readonly id: UserId }> {
  const user = await findUser(queries, tenant, id);
  if (user === undefined || user.state === 'deleted') throw notFound('unknown_user');
  return user;
}

async function loadDevice(queries: Queries, tenant: TenantId, id: string): Promise<DeviceTable> {
  const device = await findDevice(queries, tenant, id.toLowerCase());
  if (device === undefined) throw notFound('unknown_device');
  return device;
}

async function describe(queries: Queries, tenant: TenantId, device: DeviceTable): Promise<Json> {
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
    push_provider: device.push_provider,
    attestation_format: device.attestation_format,
    keys: keys.map(describeKey),
    created_at: isoTime(device.created_at),
    revoked_at: device.revoked_at === null ? null : isoTime(device.revoked_at),
  };
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
