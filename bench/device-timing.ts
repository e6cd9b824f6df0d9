// E16 on the device plane: whether time tells a known email from an unknown one at the start of a registration, or a device
// that was revoked from one nobody has in a signed request. Called by device.ts.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { requestText } from '../sdk/device.ts';
import { atMost, type Figure } from './table.ts';
import { type BenchTenant, call } from './tenant.ts';

const pairs = 2000;

export interface BenchPhone {
  readonly deviceId: string;
  readonly keyId: string;
  readonly sign: (text: string) => Promise<Uint8Array>;
}

/** A registration of an email somebody has, and of one nobody has. */
export async function measureStartTiming(tenant: BenchTenant, token: string): Promise<Figure> {
  const known = 'known@example.com';
  await call(`${tenant.managementApi}/users`, token, 'POST', { user_name: known, emails: [{ value: known, primary: true }] });
  const auc = await aucOfPairs((kind) => timeStart(tenant, kind === 'known' ? known : 'nobody@example.com'));
  return atMost('E16', 'known or unknown email told apart by time at registration start (AUC)', auc, '', 0.55);
}

/** A signed request of a device that was revoked, and of a device nobody has: one answer, `device_key_revoked`. */
export async function measureDeviceTiming(tenant: BenchTenant, revoked: BenchPhone): Promise<Figure> {
  const stranger = (): BenchPhone => ({ ...revoked, deviceId: randomUUID(), keyId: randomUUID() });
  const auc = await aucOfPairs((kind) => timeSigned(tenant, kind === 'known' ? revoked : stranger()));
  return atMost('E16', 'revoked or unknown device told apart by time of a signed request (AUC)', auc, '', 0.55);
}

/** Interleaved measurements of both kinds in turns; 0.5 is chance. */
async function aucOfPairs(measure: (kind: 'known' | 'unknown') => Promise<number>): Promise<number> {
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let index = 0; index < pairs + 100; index += 1) {
    const order = index % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of order) {
      const elapsed = await measure(kind);
      if (index >= 100) times[kind].push(elapsed); // the first ones warm up
    }
  }
  const auc = aucOf(times.known, times.unknown);
  return Math.max(auc, 1 - auc);
}

async function timeSigned(tenant: BenchTenant, phone: BenchPhone): Promise<number> {
  const timestamp = String(Date.now());
  const { deviceId, keyId } = phone;
  const path = '/v1/device/self';
  const asked = { protocolVersion: '1', issuer: tenant.baseUrl, method: 'GET', path, query: '', timestamp, deviceId, keyId };
  const signature = await phone.sign(requestText({ ...asked, bodySha256: sha256Hex('') }));
  const headers = {
    'X-Protocol-Version': '1',
    'X-Device-Id': deviceId,
    'X-Device-Key-Id': keyId,
    'X-Timestamp': timestamp,
    'X-Signature': Buffer.from(signature).toString('base64'),
  };
  const started = performance.now();
  const response = await fetch(`${tenant.baseUrl}${path}`, { headers });
  const body = await response.text();
  const elapsed = performance.now() - started;
  if (!body.includes('device_key_revoked')) throw new Error(`a revoked device was answered ${response.status} ${body}`);
  return elapsed;
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
    bodySha256: sha256Hex(body),
  });
  const headers = {
    'Content-Type': 'application/json',
    'X-Protocol-Version': '1',
    'X-Device-Id': deviceId,
    'X-Device-Key-Id': keyId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(null, Buffer.from(text), pair.privateKey).toString('base64'),
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

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');
