// A certificate authority for tests: makes Apple App Attest objects and assertions and Android key chains that pass the
// verifiers, and, by overrides, ones that are wrong in exactly one way. Test code only.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { cbor } from './cbor-build.ts';
import { bitString, boolean, context, enumerated, integer, octets, oid, sequence, setOf, time, utf8 } from './der-build.ts';

export interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

export interface CertificateOptions {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly authority?: boolean;
  readonly pathLength?: number;
  /** Instead of those the two above make. */
  readonly basicConstraints?: Uint8Array;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly serial?: bigint;
  readonly extensions?: readonly Extension[];
}

interface Extension {
  readonly oid: string;
  readonly value: Uint8Array;
  readonly critical?: boolean;
}

export const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const newP256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const spkiOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' });
export const pemOf = (certificate: Buffer): string => new X509Certificate(certificate).toString();

/** One X.509 v3 certificate, ECDSA with SHA-256. */
export function makeCertificate(options: CertificateOptions): Buffer {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const name = (text: string) => sequence(setOf(sequence(oid('2.5.4.3'), utf8(text))));
  const limit = options.pathLength === undefined ? [] : [integer(options.pathLength)];
  const basic = sequence(
    oid('2.5.29.19'),
    boolean(true),
    octets(options.basicConstraints ?? (options.authority ? sequence(boolean(true), ...limit) : sequence())),
  );
  const extra = (options.extensions ?? []).map((item) =>
    sequence(oid(item.oid), ...(item.critical === undefined ? [] : [boolean(item.critical)]), octets(item.value)),
  );
  const tbs = sequence(
    context(0, integer(2)),
    integer(options.serial ?? BigInt(`0x01${randomBytes(8).toString('hex')}`)),
    algorithm,
    name(options.issuer.name),
    sequence(time(options.notBefore ?? new Date('2020-01-01')), time(options.notAfter ?? new Date('2049-12-31'))),
    name(options.subject),
    spkiOf(options.publicKey),
    context(3, sequence(basic, ...extra)),
  );
  return sequence(tbs, algorithm, bitString(sign('sha256', tbs, options.issuer.key)));
}

/** A root and an intermediate under it. */
export function makeAuthority(label: string): { readonly root: Issuer; readonly intermediate: Issuer } {
  const rootKeys = newP256();
  const rootName = `${label} Test Root`;
  const root: Issuer = {
    name: rootName,
    key: rootKeys.privateKey,
    certificate: makeCertificate({
      subject: rootName,
      publicKey: rootKeys.publicKey,
      issuer: { name: rootName, key: rootKeys.privateKey },
      authority: true,
    }),
  };
  const keys = newP256();
  const name = `${label} Test Intermediate`;
  const certificate = makeCertificate({ subject: name, publicKey: keys.publicKey, issuer: root, authority: true });
  return { root, intermediate: { name, key: keys.privateKey, certificate } };
}

export interface AppleOverrides {
  readonly aaguid?: Uint8Array;
  readonly counter?: number;
  readonly credentialId?: Uint8Array;
  readonly flags?: number;
  readonly extensionMap?: Uint8Array;
  readonly nonce?: Uint8Array;
  readonly format?: string;
  readonly coseKey?: Uint8Array;
  readonly receipt?: Uint8Array;
  readonly leafNotAfter?: Date;
}

/** An App Attest key on a phone, and what it hands to the server. */
export function makeAppleKey(
  authority: ReturnType<typeof makeAuthority>,
  appId: string,
  environment: 'production' | 'development' = 'production',
) {
  const keys = newP256();
  const point = spkiOf(keys.publicKey).subarray(26);
  const keyId = sha256(point);
  const production = Buffer.from('appattest\0\0\0\0\0\0\0', 'latin1');
  const aaguid = environment === 'production' ? production : Buffer.from('appattestdevelop', 'latin1');
  const coseKey = cbor(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point.subarray(1, 33)],
      [-3, point.subarray(33)],
    ]),
  );

  const attest = (clientData: Uint8Array, overrides: AppleOverrides = {}): Buffer => {
    const credentialId = overrides.credentialId ?? keyId;
    const authData = Buffer.concat([
      sha256(appId),
      Buffer.of(overrides.flags ?? 0x40),
      uint32(overrides.counter ?? 0),
      overrides.aaguid ?? aaguid,
      Buffer.of(credentialId.length >> 8, credentialId.length & 0xff),
      credentialId,
      overrides.coseKey ?? coseKey,
      overrides.extensionMap ?? Buffer.alloc(0),
    ]);
    const nonce = overrides.nonce ?? sha256(authData, sha256(clientData));
    const leaf = makeCertificate({
      subject: keyId.toString('hex'),
      publicKey: keys.publicKey,
      issuer: authority.intermediate,
      extensions: [{ oid: '1.2.840.113635.100.8.2', value: sequence(context(1, octets(nonce))) }],
      ...(overrides.leafNotAfter ? { notAfter: overrides.leafNotAfter } : {}),
    });
    const statement = new Map<string, Uint8Array | Uint8Array[]>([
      ['x5c', [leaf, authority.intermediate.certificate]],
      ['receipt', overrides.receipt ?? Buffer.alloc(0)],
    ]);
    return cbor(
      new Map<string, string | Uint8Array | typeof statement>([
        ['fmt', overrides.format ?? 'apple-appattest'],
        ['attStmt', statement],
        ['authData', authData],
      ]),
    );
  };

  const assert = (clientData: Uint8Array, counter: number): Buffer => {
    const authenticatorData = Buffer.concat([sha256(appId), Buffer.of(0x40), uint32(counter)]);
    const signature = sign('sha256', sha256(authenticatorData, sha256(clientData)), keys.privateKey);
    return cbor(
      new Map([
        ['signature', signature],
        ['authenticatorData', authenticatorData],
      ]),
    );
  };

  return { keyId, publicKey: keys.publicKey, attest, assert };
}

export interface AndroidOverrides {
  readonly attestationVersion?: number;
  readonly attestationSecurityLevel?: number;
  readonly keyMintSecurityLevel?: number;
  readonly purposes?: readonly number[];
  readonly origin?: number;
  readonly locked?: boolean;
  readonly bootState?: number;
  readonly packageName?: string;
  readonly signingDigest?: Uint8Array;
  readonly userAuthType?: number;
  readonly unorderedTags?: boolean;
  readonly serial?: bigint;
  readonly rootOfTrustInSoftware?: boolean;
  readonly withRoot?: boolean;
  readonly intermediateExtension?: boolean;
  /** Seconds one unlocking lasts. */
  readonly authTimeout?: number;
  readonly authTimeoutInSoftware?: boolean;
  /** On the leaf, beside the key description. */
  readonly extension?: Extension;
}

/** An authority below another. */
export function makeIssuer(issuer: Issuer, name: string, options: Pick<CertificateOptions, 'pathLength' | 'extensions'> = {}): Issuer {
  const keys = newP256();
  const certificate = makeCertificate({ subject: name, publicKey: keys.publicKey, issuer, authority: true, ...options });
  return { name, key: keys.privateKey, certificate };
}

/** The chain an Android phone would give for a key made in its secure hardware. */
export function makeAndroidChain(
  authority: ReturnType<typeof makeAuthority>,
  key: {
    readonly publicKey: KeyObject;
    readonly challenge: string;
    readonly packageName: string;
    readonly signingDigest: Uint8Array;
  },
  overrides: AndroidOverrides = {},
): Buffer[] {
  const value = makeKeyDescription(key, overrides);
  const extension = { oid: '1.3.6.1.4.1.11129.2.1.17', value };
  let issuer: Issuer = authority.intermediate;
  if (overrides.intermediateExtension) issuer = makeIssuer(authority.root, 'Attested issuer', { extensions: [extension] });
  const leaf = makeCertificate({
    subject: 'Android Keystore Key',
    publicKey: key.publicKey,
    issuer,
    serial: overrides.serial ?? 1n,
    notBefore: new Date('1970-01-01'),
    notAfter: new Date('1971-01-01'),
    extensions: [extension, ...(overrides.extension === undefined ? [] : [overrides.extension])],
  });
  const chain = [leaf, issuer.certificate];
  return overrides.withRoot ? [...chain, authority.root.certificate] : chain;
}

function makeKeyDescription(
  key: { readonly challenge: string; readonly packageName: string; readonly signingDigest: Uint8Array },
  overrides: AndroidOverrides,
): Buffer {
  const applicationId = sequence(
    setOf(sequence(octets(overrides.packageName ?? key.packageName), integer(1))),
    setOf(octets(overrides.signingDigest ?? key.signingDigest)),
  );
  const rootOfTrust = context(
    704,
    sequence(
      octets(Buffer.alloc(32, 7)),
      boolean(overrides.locked ?? true),
      enumerated(overrides.bootState ?? 0),
      octets(Buffer.alloc(32, 8)),
    ),
  );
  const authentication =
    overrides.userAuthType === undefined ? context(503, Buffer.from('0500', 'hex')) : context(504, integer(overrides.userAuthType));
  const timeout = overrides.authTimeout === undefined ? [] : [context(505, integer(overrides.authTimeout))];
  const hardware = [
    context(1, setOf(...(overrides.purposes ?? [2]).map((purpose) => integer(purpose)))),
    context(2, integer(3)),
    context(3, integer(256)),
    context(10, integer(1)),
    authentication,
    ...(overrides.authTimeoutInSoftware ? [] : timeout),
    context(702, integer(overrides.origin ?? 0)),
    ...(overrides.rootOfTrustInSoftware ? [] : [rootOfTrust]),
  ];
  const software = [
    ...(overrides.authTimeoutInSoftware ? timeout : []),
    context(701, integer(1_700_000_000_000)),
    ...(overrides.rootOfTrustInSoftware ? [rootOfTrust] : []),
    context(709, octets(applicationId)),
  ];
  return sequence(
    integer(overrides.attestationVersion ?? 300),
    enumerated(overrides.attestationSecurityLevel ?? 1),
    integer(300),
    enumerated(overrides.keyMintSecurityLevel ?? 1),
    octets(key.challenge),
    octets(''),
    sequence(...software),
    sequence(...(overrides.unorderedTags ? hardware.reverse() : hardware)),
  );
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}
