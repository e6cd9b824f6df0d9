// What goes wrong: a refusal by the server, or no answer at all. Callers branch on `error` and `kind` only, never on a message.

/** An answer of the server that is not a success. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly status: number;
  readonly error: string;
  readonly kind: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** True when an earlier attempt of this call was not answered, so that it may have had its effect. */
  readonly repeated: boolean;

  constructor(status: number, body: Readonly<Record<string, unknown>>, repeated = false) {
    const error = typeof body['error'] === 'string' ? body['error'] : 'unknown';
    const kind = typeof body['kind'] === 'string' ? body['kind'] : undefined;
    super(`${status} ${error}${kind === undefined ? '' : ` (${kind})`}`);
    this.status = status;
    this.error = error;
    this.kind = kind;
    this.body = body;
    this.repeated = repeated;
  }
}

/** Nothing came back, repetitions included: whether the request arrived is not known. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** A refusal of that error or kind. */
export function isRefusal(thrown: unknown, ...codes: readonly string[]): thrown is DeviceError {
  return thrown instanceof DeviceError && (codes.includes(thrown.error) || codes.includes(thrown.kind ?? ''));
}

/** Silence, or an answer that says nothing about what became of the request. */
export function isUnknownOutcome(thrown: unknown): boolean {
  return thrown instanceof NoAnswerError || (thrown instanceof DeviceError && thrown.status >= 500);
}
