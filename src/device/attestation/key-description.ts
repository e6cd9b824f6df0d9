// Reads the KeyDescription of Android key attestation (extension 1.3.6.1.4.1.11129.2.1.17, source.android.com
// "Key and ID attestation"). Called by android-key only; judges nothing but the shape. Throws MalformedBytes.
import {
  type DerElement,
  derTag,
  expectDer,
  readDer,
  readDerBoolean,
  readDerChildren,
  readDerInteger,
  readDerOctets,
  readDerSequence,
} from '../../crypto/der/reader.ts';
import { demand } from './outcome.ts';

export const keyDescriptionOid = '1.3.6.1.4.1.11129.2.1.17';

/** Tag numbers of AuthorizationList; only those the verifier asks for. */
export const authorizationTag = {
  purpose: 1,
  noAuthRequired: 503,
  userAuthType: 504,
  authTimeout: 505,
  allApplications: 600,
  origin: 702,
  rootOfTrust: 704,
  attestationApplicationId: 709,
} as const;

type AuthorizationList = ReadonlyMap<number, DerElement>;

export interface KeyDescription {
  readonly attestationVersion: number;
  readonly attestationSecurityLevel: number;
  readonly keyMintSecurityLevel: number;
  readonly challenge: Uint8Array;
  readonly softwareEnforced: AuthorizationList;
  readonly hardwareEnforced: AuthorizationList;
}

interface RootOfTrust {
  readonly deviceLocked: boolean;
  readonly verifiedBootState: number;
}

interface ApplicationId {
  readonly packages: readonly string[];
  readonly signingDigests: readonly string[];
}

/** The KeyDescription of the extension's octets. */
export function readKeyDescription(value: Uint8Array): KeyDescription {
  const fields = readDerSequence(readDer(value));
  demand(fields.length === 8, 'key_description_shape');
  const attestationVersion = readSmallInteger(fields[0]);
  readDerInteger(fields[2]);
  readDerOctets(fields[5]);
  return {
    attestationVersion,
    attestationSecurityLevel: readSmallInteger(fields[1], derTag.enumerated),
    keyMintSecurityLevel: readSmallInteger(fields[3], derTag.enumerated),
    challenge: readDerOctets(fields[4]),
    softwareEnforced: readAuthorizationList(fields[6], attestationVersion),
    hardwareEnforced: readAuthorizationList(fields[7], attestationVersion),
  };
}

/** The integers of a SET OF INTEGER entry, such as the purposes. */
export function readIntegerSet(entry: DerElement | undefined): readonly number[] {
  demand(entry !== undefined, 'authorization_missing');
  return readDerChildren(expectDer(entry, derTag.set)).map((item) => readSmallInteger(item));
}

/** A small non-negative INTEGER or ENUMERATED. */
export function readSmallInteger(element: DerElement | undefined, tag: number = derTag.integer): number {
  const value = readDerInteger(element, tag);
  demand(value >= 0n && value <= 0xffff_ffffn, 'integer_out_of_range');
  return Number(value);
}

/** The verified boot fields of a RootOfTrust entry. */
export function readRootOfTrust(entry: DerElement | undefined): RootOfTrust {
  const fields = readDerSequence(entry);
  demand(fields.length === 3 || fields.length === 4, 'root_of_trust_shape');
  readDerOctets(fields[0]);
  return { deviceLocked: readDerBoolean(fields[1]), verifiedBootState: readSmallInteger(fields[2], derTag.enumerated) };
}

/** The package names and lower-case hex signing digests of an AttestationApplicationId entry. */
export function readApplicationId(entry: DerElement | undefined): ApplicationId {
  const fields = readDerSequence(readDer(readDerOctets(entry)));
  demand(fields.length === 2, 'application_id_shape');
  const packages = readDerChildren(expectDer(fields[0], derTag.set)).map((item) => {
    const [name, version, ...rest] = readDerSequence(item);
    readDerInteger(version);
    demand(rest.length === 0, 'application_id_shape');
    return Buffer.from(readDerOctets(name)).toString('utf8');
  });
  const signingDigests = readDerChildren(expectDer(fields[1], derTag.set)).map((item) => Buffer.from(readDerOctets(item)).toString('hex'));
  return { packages, signingDigests };
}

// KeyMint (version 100 and later) writes the tags in ascending order; older Keymasters did not always.
function readAuthorizationList(element: DerElement | undefined, attestationVersion: number): AuthorizationList {
  const entries = new Map<number, DerElement>();
  let previous = -1;
  for (const field of readDerSequence(element)) {
    demand(field.class === 'context' && field.constructed && !entries.has(field.tag), 'authorization_list_shape');
    demand(attestationVersion < 100 || field.tag > previous, 'authorization_list_order');
    const [value, ...rest] = readDerChildren(field);
    demand(value !== undefined && rest.length === 0, 'authorization_list_shape');
    entries.set(field.tag, value);
    previous = field.tag;
  }
  return entries;
}
