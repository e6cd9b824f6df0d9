// Hashes of long random secrets and tokens (storage rule R7): SHA-256, because 256 random bits need no slow hash.
import { hash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a secret as base64url: what is stored and looked up. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url');

/** Compares two texts in time that does not depend on where they differ. Lengths may leak; ours are fixed. */
export function equalText(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left);
  const rightBytes = Buffer.from(right);
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}

const noHash = hashSecret('no such secret');

/** Checks a presented secret against a stored hash; an absent hash does the same work and gives false. */
export function verifySecret(presented: string, storedHash: string | undefined): boolean {
  const equal = equalText(hashSecret(presented), storedHash ?? noHash);
  return storedHash !== undefined && equal;
}
