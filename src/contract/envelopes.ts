// Renders a ContractError as status, headers and body by the envelope of its row (contract 7.1).
// The only place in the house where an error body is built.
import { catalogue } from './catalogue.ts';
import type { ContractError } from './contract-error.ts';
import type { Row } from './row.ts';

export const scimErrorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Gives the exact answer of an error: status, headers, JSON body. Cache-Control is always no-store. */
export function render(error: ContractError): Answer {
  const row = catalogue[error.row];
  const { detail } = error;
  const headers: Record<string, string> = { 'cache-control': 'no-store', 'content-type': contentType(row) };
  if (row.header === 'retry-after') headers['retry-after'] = String(detail.retryAfterSeconds ?? 1);
  if (row.header === 'allow' && detail.allow !== undefined) headers['allow'] = detail.allow;
  if (row.header === 'www-authenticate' && detail.challenge !== undefined) headers['www-authenticate'] = detail.challenge;
  return { status: row.status, headers, body: { ...envelope(row, detail.text ?? row.text, detail.kind), ...detail.fields } };
}

function contentType(row: Row): string {
  return row.envelope === 'scim' ? 'application/scim+json; charset=utf-8' : 'application/json; charset=utf-8';
}

function envelope(row: Row, text: string | undefined, kind: string | undefined): Record<string, unknown> {
  switch (row.envelope) {
    case 'oauth':
      return { error: row.code, ...(text === undefined ? {} : { error_description: text }) };
    case 'management': {
      const shownKind = row.kind ?? kind;
      return { error: row.code, message: text ?? row.code, ...(shownKind === undefined ? {} : { kind: shownKind }) };
    }
    case 'scim':
      return {
        schemas: [scimErrorUrn],
        status: String(row.status),
        ...(row.scimType === undefined ? {} : { scimType: row.scimType }),
        ...(row.code === 'rate_limited' ? { error: row.code } : {}), // contract 7.19: every surface names it
        detail: text ?? row.code,
      };
    default:
      return row.envelope satisfies never;
  }
}
