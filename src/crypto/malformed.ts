// The one exception the strict binary readers throw; the verifiers that call them turn it into an outcome.

/** Bytes that are not what a strict reader accepts. The text is for the audit record only. */
export class MalformedBytes extends Error {
  override readonly name = 'MalformedBytes';
}
