// Recognises plain requests: HTTP/1.1 messages that came whole, in one read, spelled as nearly every client spells them. What
// is read here means the same to Node's parser, byte for byte; whatever is unusual or wrong is undefined and left to it.
import type { IncomingHttpHeaders } from 'node:http';

/** Request line and headers, to the blank line. */
export interface PlainHead {
  /** As it was sent. */
  readonly text: string;
  readonly method: 'GET' | 'POST';
  /** The request target as sent. */
  readonly target: string;
  /** By lower-case name; no name came twice. */
  readonly headers: IncomingHttpHeaders & { readonly host: string };
}

export interface PlainRequest {
  readonly head: PlainHead;
  /** The text of the form; undefined for GET. */
  readonly form: string | undefined;
}

/** Longer messages are left to Node's parser. */
export const plainRequestBytesMax = 8192;

const get = 0x47; // G
const post = 0x50; // P
/** Without a query and without percent-encoding: what an endpoint would make of them is not decided here. */
const requestLine = /^(GET|POST) (\/[\w\-.~!$&'()*+,;=:@/]*) HTTP\/1\.1$/;
/** RFC 9110 5.5 without obs-text; RFC 9112 5: no space before the colon, no folding. */
const fieldLines = /^(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e]*\r\n)+$/;
const formText = /^[\x21-\x7e]+$/;
const formTypes: ReadonlySet<string> = new Set([
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded;charset=utf-8',
  'application/x-www-form-urlencoded; charset=utf-8',
]);
/** Headers that change how a message is framed, answered or read. */
const notPlain = ['transfer-encoding', 'expect', 'upgrade', 'content-encoding', 'trailer', 'te', 'keep-alive', 'proxy-connection'];

/**
 * The request in these bytes, when they are exactly one plain request and nothing else.
 * @param last the head this connection sent before: clients repeat themselves, so it is rarely read again.
 */
export function readPlainRequest(bytes: Buffer, last: PlainHead | undefined): PlainRequest | undefined {
  if (bytes.length > plainRequestBytesMax || (bytes[0] !== post && bytes[0] !== get)) return undefined;
  const text = bytes.toString('latin1');
  const head = last !== undefined && text.startsWith(last.text) ? last : readHead(text);
  if (head === undefined) return undefined;
  const body = text.slice(head.text.length);
  if (!isPlainBody(head, body)) return undefined;
  return { head, form: head.method === 'POST' ? body : undefined };
}

function readHead(text: string): PlainHead | undefined {
  const lineEnd = text.indexOf('\r\n');
  const headEnd = text.indexOf('\r\n\r\n', lineEnd);
  if (lineEnd === -1 || headEnd === -1) return undefined;
  const line = requestLine.exec(text.slice(0, lineEnd));
  const fields = text.slice(lineEnd + 2, headEnd + 2);
  if (line === null || !fieldLines.test(fields)) return undefined;
  const headers = readFields(fields);
  if (headers === undefined || !isPlainHead(headers)) return undefined;
  const [, method, target] = line as unknown as [string, 'GET' | 'POST', string]; // the pattern has these groups
  return { text: text.slice(0, headEnd + 4), method, target, headers };
}

type Fields = IncomingHttpHeaders & { readonly host: string };

/** Fields by lower-case name; undefined when a name comes twice. */
function readFields(lines: string): IncomingHttpHeaders | undefined {
  const headers: Record<string, string> = Object.create(null);
  for (let start = 0; start < lines.length; ) {
    const colon = lines.indexOf(':', start);
    const end = lines.indexOf('\r\n', colon);
    const name = lines.slice(start, colon).toLowerCase();
    if (name in headers) return undefined;
    headers[name] = lines.slice(colon + 1, end).trim();
    start = end + 2;
  }
  return headers;
}

function isPlainHead(headers: IncomingHttpHeaders): headers is Fields {
  if (headers.host === undefined || headers.host === '') return false;
  if (headers.connection !== undefined && headers.connection.toLowerCase() !== 'keep-alive') return false;
  return !notPlain.some((name) => name in headers);
}

/** A form of the length it says, or no body at all. */
function isPlainBody({ method, headers }: PlainHead, body: string): boolean {
  if (method === 'GET') return body === '' && headers['content-length'] === undefined;
  if (headers['content-length'] !== String(body.length)) return false;
  return formTypes.has(headers['content-type']?.toLowerCase() ?? '') && formText.test(body);
}
