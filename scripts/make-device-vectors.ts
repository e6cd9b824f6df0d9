// Writes sdk/vectors/requests.json: requests a phone signs, and ones that are wrong in one way, with what the
// server must answer. Run by hand when the format changes: `node scripts/make-device-vectors.ts`. Server and SDK tests
// both read the file; it is made from the documented text alone, with code of neither.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../sdk/vectors/requests.json', import.meta.url);
const deviceId = '7f0d2f2e-5b1a-4c7e-9d43-0a5e9b6f3c11';
const otherId = '11111111-2222-4333-8444-555555555555';
const keyIds = {
  ES256: '0b8c6d54-3e2f-4a19-8b7d-6c5e4f3a2b10',
  EdDSA: '1c9d7e65-4f30-4b2a-9c8e-7d6f504b3c21',
  RS256: '2dae8f76-5041-4c3b-ad9f-8e70615c4d32',
} as const;
type Alg = keyof typeof keyIds;

interface Request {
  readonly protocol_version: string;
  readonly issuer: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly timestamp: string;
  readonly device_id: string;
  readonly key_id: string;
  readonly body: string;
}

const keys = loadKeys();
const algs = Object.keys(keyIds) as Alg[]; // the keys of the object above
const cases = algs.flatMap((alg) => [...positives(alg), ...negatives(alg)]);
const text = JSON.stringify({ format: 'gatehouse-device-signing-vectors-v1', keys, cases }, null, 1);
writeFileSync(file, `${text}\n`);
process.stdout.write(`${cases.length} cases\n`);

function positives(alg: Alg) {
  const base = requestOf(alg);
  const shapes: readonly (readonly [string, Partial<Request>])[] = [
    ['GET with an empty body', {}],
    ['query with %20, + and repeats', { query: 'a=1%202&a=x+y&b=&a=1%202' }],
    ['UTF-8 body', { method: 'PATCH', body: '{"name":"Zoë 電話 ☎"}' }],
    ['issuer of a tenant below a path', { issuer: 'https://id.example/t/acme' }],
  ];
  return shapes.map(([name, change]) => {
    const request = { ...base, ...change };
    return vector(`${alg}: ${name}`, alg, request, signed(alg, request), 'valid');
  });
}

function negatives(alg: Alg) {
  const base = { ...requestOf(alg), method: 'PATCH', query: 'state=pending', body: '{"name":"a"}' };
  const good = signed(alg, base);
  const changes: readonly Partial<Request>[] = [
    { protocol_version: '01' },
    { issuer: 'https://id.example/' },
    { method: 'DELETE' },
    { path: '/v1/device/self/' },
    { query: 'state=Pending' },
    { query: '' },
    { timestamp: '1767225600001' },
    { device_id: otherId },
    { key_id: otherId },
    { body: '{"name":"b"}' },
    { body: '' },
  ];
  const changed = changes.map((change) => {
    const [name, value] = Object.entries(change)[0]!; // every change names one component
    return vector(`${alg}: ${name} changed to ${JSON.stringify(value)}`, alg, { ...base, ...change }, good, 'bad_signature');
  });
  return [...changed, ...headerForms(alg, base, good), ...(alg === 'ES256' ? ecdsaForms(base, good) : [])];
}

function headerForms(alg: Alg, base: Request, good: Buffer) {
  const encoded = good.toString('base64');
  const timestamps = ['176722560000', '17672256000000', '1767225600000, 1767225600000', '1767225600.00', '+176722560000'];
  return [
    vector(`${alg}: base64url signature`, alg, base, `${good.subarray(3).toString('base64')}-_==`, 'bad_signed_headers'),
    vector(`${alg}: unpadded base64`, alg, base, Buffer.alloc(64).toString('base64').replace(/=+$/, ''), 'bad_signed_headers'),
    vector(`${alg}: signature sent twice`, alg, base, `${encoded}, ${encoded}`, 'bad_signed_headers'),
    vector(`${alg}: signature with a byte more`, alg, base, Buffer.concat([good, Buffer.of(0)]), 'bad_signature'),
    vector(`${alg}: signature with a byte less`, alg, base, good.subarray(1), 'bad_signature'),
    ...timestamps.map((timestamp) => {
      const request = { ...base, timestamp };
      return vector(`${alg}: timestamp ${timestamp}`, alg, request, signed(alg, request), 'bad_signed_headers');
    }),
    ...['device_id', 'key_id'].map((name) => {
      const request = { ...base, [name]: `${deviceId}, ${deviceId}` };
      return vector(`${alg}: ${name} sent twice`, alg, request, signed(alg, request), 'bad_signed_headers');
    }),
  ];
}

function ecdsaForms(base: Request, good: Buffer) {
  const der = sign('sha256', signedText(base), privateKey('ES256'));
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${good.subarray(32).toString('hex')}`);
  const twin = Buffer.concat([good.subarray(0, 32), Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')]);
  const longLength = Buffer.concat([Buffer.of(0x30, 0x81), der.subarray(1)]);
  const first = 'ES256: first use before the malleated twin';
  return [
    vector('ES256: strict DER', 'ES256', { ...base, query: 'form=der' }, derOf({ ...base, query: 'form=der' }), 'valid'),
    vector('ES256: DER with a trailing byte', 'ES256', base, Buffer.concat([der, Buffer.of(0)]), 'bad_signature'),
    vector('ES256: DER with a long length', 'ES256', base, longLength, 'bad_signature'),
    vector('ES256: P1363 of 63 bytes', 'ES256', base, good.subarray(0, 63), 'bad_signature'),
    vector(first, 'ES256', base, good, 'valid'),
    { ...vector('ES256: malleated twin of a used request', 'ES256', base, twin, 'replayed_request'), after: first },
  ];
}

function derOf(request: Request): Buffer {
  return sign('sha256', signedText(request), privateKey('ES256'));
}

function requestOf(alg: Alg): Request {
  return {
    protocol_version: '1',
    issuer: 'https://id.example',
    method: 'GET',
    path: '/v1/device/self',
    query: '',
    timestamp: '1767225600000',
    device_id: deviceId,
    key_id: keyIds[alg],
    body: '',
  };
}

function vector(name: string, alg: Alg, request: Request, signature: Buffer | string, expect: string) {
  const encoded = typeof signature === 'string' ? signature : signature.toString('base64');
  return { name, alg, request, signed_text: signedText(request).toString('utf8'), signature: encoded, expect };
}

function signedText(request: Request): Buffer {
  const digest = createHash('sha256').update(request.body, 'utf8').digest('hex');
  const { body: _body, ...lines } = request;
  return Buffer.from(['GATEHOUSE-DEVICE-V1', ...Object.values(lines), digest].join('\n'), 'utf8');
}

function signed(alg: Alg, request: Request): Buffer {
  const key = privateKey(alg);
  if (alg === 'ES256') return sign('sha256', signedText(request), { key, dsaEncoding: 'ieee-p1363' });
  return sign(alg === 'EdDSA' ? null : 'sha256', signedText(request), key);
}

function privateKey(alg: Alg): KeyObject {
  return createPrivateKey({ key: Buffer.from(keys[alg].private_key, 'base64'), format: 'der', type: 'pkcs8' });
}

// The keys stay the same over runs, so a change of the file shows what changed.
function loadKeys(): Readonly<Record<Alg, { readonly key_id: string; readonly private_key: string; readonly public_key: string }>> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).keys;
  const entry = (alg: Alg, pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }) => ({
    key_id: keyIds[alg],
    private_key: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    public_key: pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  });
  return {
    ES256: entry('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })),
    EdDSA: entry('EdDSA', generateKeyPairSync('ed25519')),
    RS256: entry('RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })),
  };
}
