// A refusal by the server. Callers branch on `error` and `kind` only, never on a message.

/** An answer of the server that is not a success. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly status: number;
  readonly error: string;
  readonly kind: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const error = typeof body['error'] === 'string' ? body['error'] : 'unknown';
    const kind = typeof body['kind'] === 'string' ? body['kind'] : undefined;
    super(`${status} ${error}${kind === undefined ? '' : ` (${kind})`}`);
    this.status = status;
    this.error = error;
    this.kind = kind;
    this.body = body;
  }
}
