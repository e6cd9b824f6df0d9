// What every attestation verifier answers. The subreason is for the audit record only; phones get one opaque refusal.
import { MalformedBytes } from '../../crypto/malformed.ts';

export type AttestationOutcome<Evidence> =
  | { readonly ok: true; readonly evidence: Evidence }
  | { readonly ok: false; readonly subreason: string };

/** Throws the subreason unless the condition holds; only inside a verifier's body. */
export function demand(condition: boolean, subreason: string): asserts condition {
  if (!condition) throw new MalformedBytes(subreason);
}

/** Runs a verifier's body: its value is the evidence, MalformedBytes a failure; any other error is ours and passes. */
export function attestationOutcome<Evidence>(body: () => Evidence): AttestationOutcome<Evidence> {
  try {
    return { ok: true, evidence: body() };
  } catch (error) {
    if (error instanceof MalformedBytes) return { ok: false, subreason: error.message };
    throw error;
  }
}
