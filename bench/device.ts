// P7: signed device requests, each verified and stored against replay, over the raw ES256 verification rate of one thread.
// E16: whether the start of a registration takes another time for a known email than for an unknown one.
import { generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import { createDevice, createSoftwareVault, type DeviceState, memoryStore, requestText, type StateStore } from '../sdk/device.ts';
import { requireWrk, runLoad } from './load.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { atMost, type Bench, type Figure, interleave, ratio } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 32;
const pairs = 2000;
const target = '/v1/device/approvals?state=pending';

export const device: Bench = async () => {
  requireWrk();
  const gatehouse = await startGatehouse();
  try {
    const tenant = await createTenant(gatehouse, 'device');
    const token = await managementToken(tenant);
    await call(`${tenant.managementApi}/settings`, token, 'PATCH', unlimited);
    return [await measureSignedRequests(gatehouse, tenant, token), await measureStartTiming(tenant, token)];
  } finally {
    await gatehouse.stop();
  }
};

const unlimited = {
  rate_limits: {
    device_requests_per_ip: null,
    device_requests_per_device: null,
    registration_starts_per_ip: null,
    registration_starts_per_email: null,
  },
  pin: { sends_per_hour_max: 1_000_000 },
};

interface Phone {
  readonly deviceId: string;
  readonly keyId: string;
  readonly sign: (text: Uint8Array) => Promise<Uint8Array>;
}

async function measureSignedRequests(gatehouse: GatehouseProcess, tenant: BenchTenant, token: string): Promise<Figure> {
  const phone = await enrolPhone(tenant, token);
  const text = requestText({ ...requestOf(tenant, phone), timestamp: String(Date.now()) });
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', text, pair.privateKey);
  const latest = { p50Ms: 0, p99Ms: 0 };
  // Timestamps go down from here: none is used twice, and all stay inside the skew window while this runs.
  let next = Date.now() + 280_000;
  const contenders = {
    ours: async () => {
      const count = 8000 * seconds;
      const script = await makeScript(tenant, phone, count, next);
      next -= count;
      const result = await runLoad({ url: gatehouse.url, connections, seconds, script });
      Object.assign(latest, { p50Ms: result.p50Ms, p99Ms: result.p99Ms });
      return result.requestsPerSecond;
    },
    raw: async () => rawRate(pair.publicKey, text, signature),
  };
  await interleave(1, contenders); // warm-up
  const rates = await interleave(rounds, contenders);
  return ratio('P7', 'signed device request over raw ES256 verification', rates.ours / rates.raw, 0.35, {
    ours: rates.ours,
    raw: rates.raw,
    p50_ms: latest.p50Ms,
    p99_ms: latest.p99Ms,
  });
}

function rawRate(key: KeyObject, text: Uint8Array, signature: Uint8Array): number {
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < 1000) {
    for (let index = 0; index < 100; index += 1) verify('sha256', text, key, signature);
    count += 100;
  }
  return (count * 1000) / (performance.now() - started);
}

const requestOf = (tenant: BenchTenant, phone: Phone) => ({
  protocolVersion: '1',
  issuer: tenant.baseUrl,
  method: 'GET',
  path: target.split('?')[0]!,
  query: target.split('?')[1]!,
  deviceId: phone.deviceId,
  keyId: phone.keyId,
  body: Buffer.alloc(0),
});

/** Requests signed beforehand, each with a timestamp of its own, since none may be sent twice. */
async function makeScript(tenant: BenchTenant, phone: Phone, count: number, from: number): Promise<string> {
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

async function enrolPhone(tenant: BenchTenant, token: string): Promise<Phone> {
  const email = 'bench@example.com';
  const user = (await call(`${tenant.managementApi}/users`, token, 'POST', {
    user_name: email,
    emails: [{ value: email, primary: true }],
  })) as {
    id: string;
  };
  const enrolment = (await call(`${tenant.managementApi}/users/${user.id}/enrollments`, token, 'POST')) as { enrollment_token: string };
  const store: StateStore<DeviceState> = memoryStore();
  const vault = createSoftwareVault(memoryStore());
  const phone = createDevice({ baseUrl: tenant.baseUrl, store, vault });
  await phone.redeemEnrollment(enrolment.enrollment_token, { platform: 'other', name: 'Bench' });
  await phone.enroll();
  const { deviceId, slots } = await phone.state();
  const pop = slots.find((slot) => slot.purpose === 'pop')!;
  return { deviceId, keyId: pop.keyId, sign: (text) => vault.sign(pop.handle, pop.alg, text) };
}

async function measureStartTiming(tenant: BenchTenant, token: string): Promise<Figure> {
  const known = 'known@example.com';
  await call(`${tenant.managementApi}/users`, token, 'POST', { user_name: known, emails: [{ value: known, primary: true }] });
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let index = 0; index < pairs + 100; index += 1) {
    const order = index % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of order) {
      const elapsed = await timeStart(tenant, kind === 'known' ? known : 'nobody@example.com');
      if (index >= 100) times[kind].push(elapsed); // the first ones warm up
    }
  }
  const auc = aucOf(times.known, times.unknown);
  return atMost('E16', 'known or unknown email told apart by time at registration start (AUC)', Math.max(auc, 1 - auc), '', 0.55);
}

async function timeStart(tenant: BenchTenant, email: string): Promise<number> {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const [deviceId, keyId, timestamp] = [randomUUID(), randomUUID(), String(Date.now())];
  const keys = [{ key_id: keyId, purpose: 'pop', alg: 'EdDSA', public_key: publicKey }];
  const body = JSON.stringify({ email, device: { platform: 'other', name: 'Bench' }, keys });
  const path = '/v1/device/registration/start';
  const text = requestText({
    protocolVersion: '1',
    issuer: tenant.baseUrl,
    method: 'POST',
    path,
    query: '',
    timestamp,
    deviceId,
    keyId,
    body: Buffer.from(body),
  });
  const headers = {
    'Content-Type': 'application/json',
    'X-Protocol-Version': '1',
    'X-Device-Id': deviceId,
    'X-Device-Key-Id': keyId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(null, text, pair.privateKey).toString('base64'),
  };
  const started = performance.now();
  const response = await fetch(`${tenant.baseUrl}${path}`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  const elapsed = performance.now() - started;
  if (response.status !== 202) throw new Error(`registration start answered ${response.status}`);
  return elapsed;
}

/** The chance that a random one of `left` is larger than a random one of `right`: the area under the ROC curve. */
function aucOf(left: readonly number[], right: readonly number[]): number {
  const sorted = right.toSorted((a, b) => a - b);
  let wins = 0;
  for (const value of left) wins += countBelow(sorted, value);
  return wins / (left.length * right.length);
}

function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
