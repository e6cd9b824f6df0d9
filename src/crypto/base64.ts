// Strict base64 (RFC 4648 sections 4 and 5): canonical text only. Node's decoder skips what it does not know, so every
// decoder here re-encodes and compares. Called by the device plane and the attestation verifiers.

/** Bytes of canonical, padded standard base64, or undefined for any other text (RFC 4648 section 4). */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Bytes of canonical, unpadded base64url, or undefined for any other text (RFC 4648 section 5). */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
