// The two tables of docs/device-protocol.md that are made from the protocol: calls and refusals.
import { deviceRows } from '../../contract/device.ts';
import type { Row } from '../../contract/row.ts';
import { adviceOf } from './advice.ts';
import { type ProtocolAnswer, type ProtocolCall, protocolCalls } from './calls.ts';
import { shorthand } from './shapes.ts';

/** Markdown: what each call takes and answers. */
export function callsTable(): string {
  const rows = protocolCalls.map(
    (call) => `| \`${call.method} ${call.path}\` | ${takes(call)} | ${call.answers.map(gives).join(', or ')} |`,
  );
  return ['| Call | Body | Answer |', '|---|---|---|', ...rows].join('\n');
}

/** Markdown: every refusal of the plane and what a client does about it. */
export function refusalsTable(): string {
  const rows = Object.entries(adviceOf).map(([id, advice]) => {
    const { status, code, kind } = deviceRows[id as keyof typeof deviceRows] as Row; // the advice has the rows' names
    return `| ${status} | \`${code}\` | ${kind === undefined ? '' : `\`${kind}\``} | ${advice} |`;
  });
  return ['| Status | `error` | `kind` | What a client does |', '|---|---|---|---|', ...rows].join('\n');
}

function takes({ signedBy, body, bodyNote }: ProtocolCall): string {
  const said = [body === undefined ? '' : `\`${shorthand(body)}\``, bodyNote ?? ''].filter((text) => text !== '').join(', ');
  return signedBy === 'uv' ? `by \`uv\`: ${said}` : said;
}

function gives({ status, shape, text }: ProtocolAnswer): string {
  const members = shape?.['properties'] === undefined ? '' : ` \`${shorthand(shape)}\``;
  return `${status}${members}${text === undefined ? '' : `: ${text}`}`;
}
