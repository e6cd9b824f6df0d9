// The reply of a request on the fast path: the bytes Fastify and Node would have sent for the same answer.
import { STATUS_CODES, validateHeaderValue } from 'node:http';
import { systemClock } from '../platform/clock.ts';
import type { EndpointReply } from './endpoint.ts';

export class PlainReply implements EndpointReply {
  #status = 200;
  #body = '';
  /** By lower-case name, in the order they were first set. */
  readonly #fields: Record<string, string>;

  constructor(requestId: string) {
    this.#fields = { 'x-request-id': requestId };
  }

  get status(): number {
    return this.#status;
  }

  code(status: number): this {
    this.#status = status;
    return this;
  }

  header(name: string, value: string): this {
    validateHeaderValue(name, value);
    this.#fields[name] = value;
    return this;
  }

  headers(values: Readonly<Record<string, string>>): this {
    for (const name in values) this.header(name, values[name]!);
    return this;
  }

  send(body = ''): this {
    this.#body = body;
    return this;
  }

  /** The whole answer and its encoding, on a connection that stays open for so long, or closes when that is undefined. */
  message(keepAliveSeconds: number | undefined): { readonly text: string; readonly encoding: 'latin1' | 'utf8' } {
    const bytes = Buffer.byteLength(this.#body);
    let text = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status] ?? ''}\r\n`;
    for (const name in this.#fields) text += `${name}: ${this.#fields[name]}\r\n`;
    const stay = keepAliveSeconds === undefined ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`;
    text += `content-length: ${bytes}\r\nDate: ${dateNow()}\r\nConnection: ${stay}\r\n\r\n`;
    return { text: text + this.#body, encoding: bytes === this.#body.length ? 'latin1' : 'utf8' };
  }
}

let dateSecond = 0;
let date = '';

/** RFC 9110 6.6.1, by the machine's own clock as Node's server has it. */
function dateNow(): string {
  const second = Math.floor(systemClock.nowMs() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
