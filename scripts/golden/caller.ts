// Calls of the server that is filled. What it answers names its public URL; the calls go to where it listens.
import { goldenIssuer } from '../../test/support/golden.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Caller {
  /** Where `url` (of the public URL, or a path) is really asked. */
  readonly at: (url: string) => string;
  readonly send: (url: string, init?: RequestInit) => Promise<Response>;
  /** A JSON call that must succeed; gives its JSON. */
  readonly make: (method: string, url: string, token: string, body?: unknown) => Promise<Json>;
  /** A form that must succeed; gives its JSON. */
  readonly form: (url: string, fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) => Promise<Json>;
}

export function createCaller(origin: string): Caller {
  const at = (url: string): string => (url.startsWith('/') ? `${origin}${url}` : url.replace(goldenIssuer, origin));
  const send = (url: string, init: RequestInit = {}): Promise<Response> => fetch(at(url), { redirect: 'manual', ...init });
  const read = async (what: string, response: Response): Promise<Json> => {
    const text = await response.text();
    if (!response.ok) throw new Error(`${what}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  return {
    at,
    send,
    make: async (method, url, token, body) => {
      const content: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const init = {
        method,
        headers: { authorization: `Bearer ${token}`, ...content },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      return read(`${method} ${url} ${JSON.stringify(body)}`, await send(url, init));
    },
    form: async (url, fields, headers = {}) =>
      read(`POST ${url}`, await send(url, { method: 'POST', body: new URLSearchParams(fields), headers })),
  };
}
