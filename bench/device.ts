// P7: signed device requests, each verified and stored against replay, over raw ES256 verification,
// by processor time.
// Then the timings of device-timing.ts (E16).
import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { createDevice, memoryStore, requestText } from '../sdk/device.ts';
import { createSoftwareVault } from '../sdk/node.ts';
import { type BenchPhone, measureDeviceTiming, measureStartTiming } from './device-timing.ts';
import { costOf, requireWrk } from './load.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { type Bench, type Figure, interleave, ownCpuMs, ratio } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 32;
const target = '/v1/device/approvals?state=pending';

export const device: Bench = async () => {
  requireWrk();
  const gatehouse = await startGatehouse();
  try {
    const tenant = await createTenant(gatehouse, 'device');
    const token = await managementToken(tenant);
    await call(`${tenant.managementApi}/settings`, token, 'PATCH', unlimited);
    const revoked = await enrolPhone(tenant, token, 'revoked@example.com');
    await call(`${tenant.managementApi}/devices/${revoked.deviceId}`, token, 'DELETE');
    return [
      await measureSignedRequests(gatehouse, tenant, token),
      await measureStartTiming(tenant, token),
      await measureDeviceTiming(tenant, revoked),
    ];
  } finally {
    await gatehouse.stop();
  }
};

const roomyRate = { limit: 1_000_000, period_seconds: 1 };
const unlimited = {
  rate_limits: {
    device_requests_per_ip: roomyRate,
    device_requests_per_device: roomyRate,
    registration_starts_per_ip: roomyRate,
    registration_starts_per_email: roomyRate,
  },
  pin: { sends_per_hour_max: 1_000_000 },
};

async function measureSignedRequests(gatehouse: GatehouseProcess, tenant: BenchTenant, token: string): Promise<Figure> {
  const phone = await enrolPhone(tenant, token, 'bench@example.com');
  const text = Buffer.from(requestText({ ...requestOf(tenant, phone), timestamp: String(Date.now()) }));
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', text, pair.privateKey);
  // Timestamps go down from here: none is used twice, and all stay inside the skew window while this runs.
  let next = Date.now() + 280_000;
  const contenders = {
    ours: async () => {
      const count = 8000 * seconds;
      const script = await makeScript(tenant, phone, count, next);
      next -= count;
      return costOf(gatehouse, { url: gatehouse.url, connections, seconds, script });
    },
    raw: async () => ({ cpuMs: await rawCpuMs(pair.publicKey, text, signature) }),
  };
  await interleave<'ours' | 'raw', Readonly<Record<string, number>>>(1, contenders); // warm-up
  const { ours, raw } = await interleave<'ours' | 'raw', Readonly<Record<string, number>>>(rounds, contenders);
  return ratio('P7', 'raw ES256 verification over a signed device request', raw['cpuMs']! / ours['cpuMs']!, 0.35, {
    ...ours,
    raw_ms: raw['cpuMs']!,
  });
}

const rawCpuMs = (key: KeyObject, text: Uint8Array, signature: Uint8Array): Promise<number> =>
  ownCpuMs(5000, () => verify('sha256', text, key, signature));

const requestOf = (tenant: BenchTenant, phone: BenchPhone) => ({
  protocolVersion: '1',
  issuer: tenant.baseUrl,
  method: 'GET',
  path: target.split('?')[0]!,
  query: target.split('?')[1]!,
  deviceId: phone.deviceId,
  keyId: phone.keyId,
  bodySha256: createHash('sha256').digest('hex'),
});

/** Requests signed beforehand, each with a timestamp of its own, since none may be sent twice. */
async function makeScript(tenant: BenchTenant, phone: BenchPhone, count: number, from: number): Promise<string> {
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const timestamp = String(from - index);
    const signature = await phone.sign(requestText({ ...requestOf(tenant, phone), timestamp }));
    lines.push(`"${timestamp}","${Buffer.from(signature).toString('base64')}"`);
  }
  const path = new URL(tenant.baseUrl).pathname.replace(/\/$/, '') + target;
  return `local signed = {${lines.join(',')}}
local at = -1
local headers = {["X-Protocol-Version"] = "1", ["X-Device-Id"] = "${phone.deviceId}", ["X-Device-Key-Id"] = "${phone.keyId}"}
function request()
  at = at + 2
  headers["X-Timestamp"] = signed[at]
  headers["X-Signature"] = signed[at + 1]
  return wrk.format("GET", "${path}", headers)
end`;
}

async function enrolPhone(tenant: BenchTenant, token: string, email: string): Promise<BenchPhone> {
  const user = (await call(`${tenant.managementApi}/users`, token, 'POST', {
    user_name: email,
    emails: [{ value: email, primary: true }],
  })) as {
    id: string;
  };
  const enrolment = (await call(`${tenant.managementApi}/users/${user.id}/enrollments`, token, 'POST')) as { enrollment_token: string };
  const vault = createSoftwareVault(memoryStore());
  const phone = createDevice({ baseUrl: tenant.baseUrl, store: memoryStore(), vault });
  await phone.redeemEnrollment(enrolment.enrollment_token, { platform: 'other', name: 'Bench' });
  await phone.enroll();
  const { account } = await phone.state();
  const { deviceId, slots } = account!; // enrolled just now
  const pop = slots.find((slot) => slot.purpose === 'pop')!;
  return { deviceId, keyId: pop.keyId, sign: (text) => vault.sign(pop.handle, Buffer.from(text)) };
}
