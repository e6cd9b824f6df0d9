// DPoP proofs (RFC 9449) as a client makes them with jose, right ones and wrong ones.
import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface ProofKey {
  readonly thumbprint: string;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  /** A proof for the request; members of `changes` replace or (undefined) remove claims and header members. */
  readonly prove: (htu: string, changes?: ProofChanges) => Promise<string>;
}

export interface ProofChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

export async function createProofKey(alg = 'ES256'): Promise<ProofKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    prove: (htu, { claims = {}, header = {} } = {}) =>
      new SignJWT({ htm: 'POST', htu, jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey),
  };
}

export const athOf = (accessToken: string): string => createHash('sha256').update(accessToken).digest('base64url');
