// What one row of the error contract is. Row tables (oidc, saml, scim, device, shared) are data of this shape;
// code throws row ids, tests name them, docs/contract.md and `gatehouse contract` are generated from them.

/** The three body shapes of contract 7.1. The envelope belongs to the row, never to the caller. */
export type Envelope = 'oauth' | 'management' | 'scim';

/** Body members beyond the envelope's own, typed here once (contract 7.1-7.19). */
export interface ExtraFields {
  readonly attempts_left?: number;
  readonly retry_after_seconds?: number;
  readonly min_supported?: number;
  readonly current?: number;
  readonly server_time?: number;
  readonly reason?: string;
}

export interface Row {
  /** `error` of the OAuth and management envelopes; for SCIM the status text is used instead. */
  readonly code: string;
  readonly status: number;
  readonly envelope: Envelope;
  /** Place in the contract, or `design` for rows the design adds (framework errors). */
  readonly section: string;
  /** When it is answered: one line of the generated catalogue. */
  readonly when: string;
  /** True: several causes, one byte-identical answer; the throw site cannot add text. */
  readonly opaque: boolean;
  /** Fixed text: `message` (management), `detail` (SCIM), `error_description` (OAuth, omitted when absent). */
  readonly text?: string;
  /** `kind` of the management envelope. */
  readonly kind?: string;
  readonly scimType?: string;
  /** Extra members this row's body must carry. */
  readonly fields?: readonly (keyof ExtraFields)[];
  /** Header the answer must carry. */
  readonly header?: 'retry-after' | 'allow' | 'www-authenticate';
}

/** Keeps literal row ids while checking every entry. */
export function defineRows<const Rows extends Record<string, Row>>(rows: Rows): Rows {
  return rows;
}
