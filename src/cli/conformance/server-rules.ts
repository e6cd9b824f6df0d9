// Plays a phone against a server: enrols with a link, then asks every question of docs/device-protocol.md it can without a second
// person, right and wrong, and compares each answer with the contract. The device is revoked at the end.
import { randomUUID } from 'node:crypto';
import { catalogue, type RowId } from '../../contract/catalogue.ts';
import type { Row } from '../../contract/row.ts';
import { createProbe, type Headers, makeKey, type Probe, type Received, type Sending } from './probe.ts';
import type { Report } from './report.ts';

type Json = Readonly<Record<string, unknown>>;

interface Run {
  readonly probe: Probe;
  readonly report: Report;
  /** The answer must be this row of the contract, whole. */
  readonly refused: (rule: string, row: RowId, answer: Promise<Received>, kind?: string) => Promise<Received>;
  /** The answer must have this status and these members. */
  readonly answered: (rule: string, status: number, answer: Promise<Received>, members?: readonly string[]) => Promise<Received>;
}

/** Runs every rule. @throws Error when there is no device to go on with */
export async function runServerRules(link: { readonly baseUrl: string; readonly token: string }, report: Report): Promise<void> {
  const probe = createProbe(link.baseUrl);
  const run = runOf(probe, report);
  await enrolment(run, link.token);
  for (const group of [headers, signatures, bodies, approvals, rotation, revocation]) await group(run);
}

function runOf(probe: Probe, report: Report): Run {
  const judge = (rule: string, expected: string, faults: readonly string[], { status, body }: Received): void => {
    if (faults.length === 0) report.add({ rule, passed: true });
    else
      report.add({
        rule,
        passed: false,
        expected: `${expected} (wrong: ${faults.join(', ')})`,
        found: `${status} ${JSON.stringify(body)}`,
      });
  };
  return {
    probe,
    report,
    refused: async (rule, id, asked, kind) => {
      const answer = await asked;
      const row: Row = catalogue[id];
      const wanted: Json = { error: row.code, kind: row.kind ?? kind, ...(row.text === undefined ? {} : { message: row.text }) };
      const wrong = Object.entries(wanted).filter(([name, value]) => answer.body[name] !== value);
      const missing = (row.fields ?? []).filter((field) => typeof answer.body[field] !== 'number');
      const faults = [...(answer.status === row.status ? [] : ['status']), ...wrong.map(([name]) => name), ...missing];
      judge(rule, `${row.status} ${JSON.stringify(wanted)}`, faults, answer);
      return answer;
    },
    answered: async (rule, status, asked, members = []) => {
      const answer = await asked;
      const missing = members.filter((name) => !Object.hasOwn(answer.body, name));
      judge(
        rule,
        `${status} with ${members.join(', ') || 'no more'}`,
        [...(answer.status === status ? [] : ['status']), ...missing],
        answer,
      );
      return answer;
    },
  };
}

const at = (path: string): string => `/v1/device${path}`;
const self = at('/self');

async function enrolment({ probe, refused, answered }: Run, token: string): Promise<void> {
  const device = { platform: 'other', name: 'Conformance' };
  const redemption = (change: object = {}, sending: Sending = {}) =>
    probe.send('POST', at('/enrollment/redeem'), {
      body: { enrollment_token: token, device, keys: probe.publicKeys(), ...change },
      ...sending,
    });
  await refused('a path that is none is told without a signature', 'management.not_found', probe.send('GET', at('/nothing'), unsigned));
  await refused('keys: not a list', 'device.invalid_request', redemption({ keys: 'x' }), 'keys');
  await refused(
    'redeem: signed by another key than it brings',
    'device.bad_signature',
    redemption({}, { key: { ...makeKey('pop'), keyId: probe.keys.pop.keyId } }),
  );
  await refused('redeem: a token of nobody', 'registration.token_invalid', redemption({ enrollment_token: 'A'.repeat(43) }));
  const members = ['registration_token', 'status', 'expires_at', 'attestation'];
  const first = await answered('redeem: the link’s token', 200, redemption(), members);
  if (first.status !== 200)
    throw new Error(`expected an unused enrolment link without a PIN, found ${first.status} ${JSON.stringify(first.body)}`);
  const second = await answered('redeem: repeated by the same keys gives a new token', 200, redemption(), members);
  const stranger = createProbe(probe.baseUrl);
  const others = { enrollment_token: token, device, keys: stranger.publicKeys() };
  await refused(
    'redeem: repeated by other keys',
    'registration.token_invalid',
    stranger.send('POST', at('/enrollment/redeem'), { body: others }),
  );
  const enrol = (registration: unknown, proofs: unknown) =>
    probe.send('POST', at('/enroll'), { body: { registration_token: registration, proofs } });
  const challengeOf = ({ body }: Received): string => String((body['attestation'] as Json | undefined)?.['challenge'] ?? body['challenge']);
  await refused(
    'enroll: the token that a repetition replaced',
    'registration.token_invalid',
    enrol(first.body['registration_token'], probe.proofs(challengeOf(first))),
  );
  const registration = second.body['registration_token'];
  await refused(
    'enroll: proofs for another tenant',
    'device.bad_proof',
    enrol(registration, probe.proofs(challengeOf(second), 'https://other.example')),
  );
  await refused('signed calls wait for the enrolment', 'device.key_revoked', probe.send('GET', self));
  const fresh = await answered(
    'attestation/challenge: a fresh one',
    201,
    probe.send('POST', at('/attestation/challenge'), { body: { registration_token: registration } }),
    ['challenge', 'expires_at'],
  );
  const proofs = probe.proofs(challengeOf(fresh));
  const enrolled = await answered('enroll: every key proven', 201, enrol(registration, proofs), [
    'device_id',
    'user',
    'keys',
    'server_time',
  ]);
  if (enrolled.status !== 201) throw new Error(`expected an enrolled device, found ${enrolled.status} ${JSON.stringify(enrolled.body)}`);
  await refused('enroll: a consumed token', 'registration.token_invalid', enrol(registration, proofs));
}

const unsigned: Sending = {
  headers: {
    'x-protocol-version': undefined,
    'x-device-id': undefined,
    'x-device-key-id': undefined,
    'x-timestamp': undefined,
    'x-signature': undefined,
  },
};

async function headers({ probe, report, refused, answered }: Run): Promise<void> {
  const ask = (sending: Sending) => probe.send('GET', self, sending);
  const header = (name: string, value?: string) => ask({ headers: { [name]: value } });
  await answered('a signed request', 200, ask({}), [
    'device_id',
    'platform',
    'name',
    'push_provider',
    'created_at',
    'user',
    'keys',
    'server_time',
  ]);
  await refused('no headers at all: the version is looked at first', 'device.upgrade_required', ask(unsigned));
  for (const version of ['', 'one', '0', '1234567', '-1'])
    await refused(`X-Protocol-Version: “${version}”`, 'device.upgrade_required', ask({ version }));
  await answered('a version above the current one', 200, ask({ version: '999' }));
  for (const name of ['x-device-id', 'x-device-key-id', 'x-timestamp', 'x-signature'])
    await refused(`${name} missing`, 'device.signature_required', header(name));
  await refused('x-signature empty', 'device.signature_required', header('x-signature', ''));
  for (const [name, value] of [
    ['x-device-id', 'device'],
    ['x-device-key-id', 'key'],
    ['x-timestamp', '123456789012'],
    ['x-timestamp', '12345678901234'],
    ['x-timestamp', '1e12'],
    ['x-signature', 'not base64'],
    ['x-signature', 'AAA'],
  ] as const)
    await refused(`${name}: “${value}”`, 'device.bad_signed_headers', header(name, value));
  await refused('x-signature in base64url', 'device.bad_signed_headers', ask({ spoil: () => `${'_-'.repeat(43)}==` }));
  for (const hours of [-1, 1]) {
    const timestamp = String(Date.now() + hours * 3_600_000);
    const { body } = await refused(`a clock ${hours} h off`, 'device.clock_skew', ask({ timestamp }));
    if (typeof body['server_time'] === 'number') probe.takeTime(body['server_time']);
    const isNear = Math.abs(Number(body['server_time']) - Number(probe.stamp())) < 60_000;
    report.add({ rule: 'clock_skew tells the server’s time in milliseconds', passed: isNear, found: String(body['server_time']) });
  }
  await refused('a device nobody enrolled', 'device.key_revoked', header('x-device-id', randomUUID()));
  await refused('a slot the device does not have', 'device.key_revoked', header('x-device-key-id', randomUUID()));
  await refused('a compressed body', 'management.unsupported_media_type', header('content-encoding', 'gzip'));
}

async function signatures({ probe, refused, answered }: Run): Promise<void> {
  const wrong: readonly (readonly [string, Sending])[] = [
    ['the version', { signed: { protocolVersion: '2' } }],
    ['the tenant', { signed: { issuer: 'https://other.example' } }],
    ['the method', { signed: { method: 'POST' } }],
    ['the path', { signed: { path: at('/activity') } }],
    ['the query', { signed: { query: 'a=1' } }],
    ['the time', { signed: { timestamp: '1700000000000' } }],
    ['the device', { signed: { deviceId: randomUUID() } }],
    ['the key', { signed: { keyId: randomUUID() } }],
    ['the body', { signed: { bodySha256: '0'.repeat(64) } }],
  ];
  for (const [part, sending] of wrong)
    await refused(`signed over another value of ${part}`, 'device.bad_signature', probe.send('GET', self, sending));
  await refused(
    'signed by the other slot’s key',
    'device.bad_signature',
    probe.send('GET', self, { key: { ...probe.keys.uv, keyId: probe.keys.pop.keyId } }),
  );
  await refused('a signature with one byte changed', 'device.bad_signature', probe.send('GET', self, { spoil: changeLastByte }));
  await refused(
    'a signature one byte short',
    'device.bad_signature',
    probe.send('GET', self, { spoil: (signature) => signature.subarray(0, 63) }),
  );
  await answered('a signature in strict DER', 200, probe.send('GET', self, { spoil: toDer }));
  await refused(
    'DER with a byte behind it',
    'device.bad_signature',
    probe.send('GET', self, { spoil: (signature) => Buffer.concat([toDer(signature), Buffer.of(0)]) }),
  );
  await refused('the same request twice', 'device.replayed_request', probe.replay('GET', self));
  await refused('the same request with its signature’s twin', 'device.replayed_request', probe.replay('GET', self, withTwin));
  await refused('the same request with its signature in DER', 'device.replayed_request', probe.replay('GET', self, inDer));
  for (const target of ['/v1/device//self', '/v1/device/./self', '/v1/device/x/../self', '/v1/device/%2e/self', '/v1/device/self?a=%5C'])
    await refused(`a target with two readings: ${target}`, 'management.malformed', probe.send('GET', target));
}

async function bodies({ probe, refused, answered }: Run): Promise<void> {
  const patch = (body: unknown) => probe.send('PATCH', self, { body });
  await answered('a member nobody knows is ignored', 200, patch({ name: 'Conformance', unknown: true }), ['device_id']);
  await refused('a body that is no JSON', 'management.malformed', patch('{'));
  await refused('a body that is no object', 'management.malformed', patch('[]'));
  await refused('a name of 101 characters', 'device.invalid_request', patch({ name: 'n'.repeat(101) }), 'name');
  await refused('a body of more than 64 KiB', 'management.payload_too_large', patch({ name: 'n', more: 'm'.repeat(65_536) }));
  const push = (body: unknown) => probe.send('PUT', at('/push-token'), { body });
  await refused('push-token: a provider nobody knows', 'device.invalid_request', push({ provider: 'sms', token: 'x' }), 'provider');
  await refused('push-token: a subscription of no vendor', 'device.invalid_request', push({ provider: 'web', token: '{}' }), 'token');
  await answered('push-token: none', 204, push({ provider: 'none' }));
  await answered('push-token: shown', 200, probe.send('GET', at('/push-token')), ['provider', 'vapid_public_key']);
  await answered('attestation/challenge of an enrolled device', 201, probe.send('POST', at('/attestation/challenge'), { body: {} }), [
    'challenge',
  ]);
  await answered('activity', 200, probe.send('GET', at('/activity?limit=1')), ['items']);
  await refused('activity: a limit of 0', 'device.invalid_request', probe.send('GET', at('/activity?limit=0')), 'limit');
}

async function approvals({ probe, refused, answered }: Run): Promise<void> {
  const { uv } = probe.keys;
  const decide = (what: string, body: unknown, key = probe.keys.pop) =>
    probe.send('POST', at(`/approvals/${randomUUID()}/${what}`), { body, key });
  await answered('approvals', 200, probe.send('GET', at('/approvals?state=pending&wait=0')), ['items']);
  await refused('approvals: a wait of 26 s', 'device.invalid_request', probe.send('GET', at('/approvals?wait=26')), 'wait');
  await refused('approve with the pop key', 'approval.user_verification_required', decide('approve', { context_sha256: '0'.repeat(64) }));
  await refused('approve what is not there', 'device.not_found', decide('approve', { context_sha256: '0'.repeat(64) }, uv));
  await refused('deny what is not there', 'device.not_found', decide('deny', { reason: 'other' }));
  await refused('deny for a reason nobody knows', 'device.invalid_request', decide('deny', { reason: 'x' }), 'reason');
  await refused('claim a code that does not work', 'device.not_found', probe.send('POST', at('/approvals/claim'), { body: { code: 'x' } }));
  const other = at(`/devices/${randomUUID()}/revoke`);
  await refused('revoke another device with the pop key', 'approval.user_verification_required', probe.send('POST', other));
  await refused('revoke a device that is not there', 'device.not_found', probe.send('POST', other, { key: uv }));
}

async function rotation({ probe, refused, answered }: Run): Promise<void> {
  const post = (path: string, body: unknown, key = probe.keys.pop) => probe.send('POST', at(`/keys/rotate/${path}`), { body, key });
  const nonceOf = 'A'.repeat(43);
  await refused('rotate/confirm without a start', 'rotation.no_rotation_in_progress', post('confirm', { nonce: nonceOf, keys: [] }));
  const started = await answered('rotate/start', 200, post('start', {}), ['rotation_id', 'nonce', 'expires_at', 'keys']);
  const nonce = String(started.body['nonce']);
  const fresh = { pop: makeKey('pop', probe.keys.pop.keyId), uv: makeKey('uv', probe.keys.uv.keyId) };
  const [pop, uv] = [probe.rotation(fresh.pop, nonce), probe.rotation(fresh.uv, nonce)];
  await refused('rotate/confirm: a nonce of the wrong form', 'rotation.bad_nonce', post('confirm', { nonce: 'x', keys: [pop, uv] }));
  await refused('rotate/confirm: another nonce', 'rotation.rotation_nonce_mismatch', post('confirm', { nonce: nonceOf, keys: [pop, uv] }));
  await refused('rotate/confirm: a slot left out', 'rotation.rotation_set_mismatch', post('confirm', { nonce, keys: [pop] }));
  await refused('rotate/confirm: a slot twice', 'rotation.rotation_set_mismatch', post('confirm', { nonce, keys: [pop, pop] }));
  const sameAgain = probe.rotation({ ...probe.keys.pop }, nonce);
  await refused('rotate/confirm: the key it has', 'rotation.bad_new_key_bytes', post('confirm', { nonce, keys: [sameAgain, uv] }));
  const stolen = { ...uv, old_signature: uv.signature };
  await refused(
    'rotate/confirm: a uv key without the old one’s word',
    'rotation.bad_new_key_signature',
    post('confirm', { nonce, keys: [pop, stolen] }),
  );
  const body = { nonce, keys: [pop, uv] };
  const members = ['rotation_id', 'keys', 'overlap_expires_at'];
  const old = { ...probe.keys };
  const done = await answered('rotate/confirm', 200, post('confirm', body), members);
  if (done.status !== 200) return;
  Object.assign(probe.keys, fresh);
  await answered('rotate/confirm repeated under the new key', 200, post('confirm', body), members);
  await answered('rotate/confirm repeated under the old key', 200, post('confirm', body, old.pop), members);
  await refused(
    'rotate/confirm again with something else',
    'rotation.no_rotation_in_progress',
    post('confirm', { nonce, keys: [uv, pop, pop] }),
  );
  await answered('the old key in the overlap', 200, probe.send('GET', self, { key: old.pop }));
  await refused('the old key may not rotate', 'device.bad_signature', post('start', {}, old.pop));
  await refused('rotate/start while every slot is in overlap', 'rotation.no_keys_to_rotate', post('start', {}));
  await refused('rotate/complete of another rotation', 'rotation.no_rotation_in_progress', post('complete', { rotation_id: randomUUID() }));
  await answered('rotate/complete', 200, post('complete', { rotation_id: done.body['rotation_id'] }));
  await refused('the old key after the overlap', 'device.bad_signature', probe.send('GET', self, { key: old.pop }));
  await answered('rotate/start again', 200, post('start', {}), ['rotation_id']);
  await answered('rotate/abort', 200, post('abort', {}));
}

async function revocation({ probe, refused, answered }: Run): Promise<void> {
  await answered('DELETE /self', 204, probe.send('DELETE', self));
  await refused('after it every call', 'device.key_revoked', probe.send('GET', self));
  await refused('after it a challenge', 'device.key_revoked', probe.send('POST', at('/attestation/challenge'), { body: {} }));
}

const changeLastByte = (signature: Buffer): Buffer => {
  const changed = Buffer.from(signature);
  changed[changed.length - 1] = changed.at(-1)! ^ 1;
  return changed;
};

/** The DER form of a signature of two numbers of 32 bytes. */
function toDer(signature: Buffer): Buffer {
  const numbers = [signature.subarray(0, 32), signature.subarray(32, 64)].map((bytes) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const plain = bytes.subarray(Math.max(0, start));
    const value = (plain[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), plain]) : plain;
    return Buffer.concat([Buffer.of(2, value.length), value]);
  });
  const body = Buffer.concat(numbers);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

/** ECDSA: (r, n - s) verifies as (r, s) does. */
const withTwin = (sent: Headers): Headers => {
  const signature = Buffer.from(sent['x-signature'] ?? '', 'base64');
  const s = (order - BigInt(`0x${signature.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0');
  return { ...sent, 'x-signature': Buffer.concat([signature.subarray(0, 32), Buffer.from(s, 'hex')]).toString('base64') };
};

const inDer = (sent: Headers): Headers => ({
  ...sent,
  'x-signature': toDer(Buffer.from(sent['x-signature'] ?? '', 'base64')).toString('base64'),
});
