// The guarded way out as the fetch() that libraries take, for one conversation with one provider. Remembers why a call got no
// answer, because libraries wrap that beyond recognition.
import { providerAnswerBytesMax } from '../contract/limits.ts';
import type { Outbound } from '../platform/net/outbound.ts';

export interface UpstreamFetch {
  readonly fetch: (url: string, init: FetchInit) => Promise<Response>;
  /** Why the last call had no answer worth reading; undefined when every one had. */
  readonly failure: () => string | undefined;
}

interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

const timeoutMs = 10_000;
const failureStatusMin = 500;

/** @param share the tenant whose calls these are @param recall answers a call instead of the network, where it can */
export function upstreamFetch(outbound: Outbound, share: string, recall?: (url: string) => Response | undefined): UpstreamFetch {
  let failed: string | undefined;
  const fetch = async (url: string, { method, headers, body }: FetchInit): Promise<Response> => {
    const known = recall?.(url);
    if (known !== undefined) return known;
    const answer = await outbound.fetch({
      url,
      share,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers },
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      timeoutMs,
      responseBytesMax: providerAnswerBytesMax,
    });
    if (!answer.ok || answer.status >= failureStatusMin) {
      failed = `${new URL(url).host}: ${answer.ok ? `status ${answer.status}` : answer.reason}`;
      throw new Error(failed);
    }
    const headersOnly = { ...(answer.headers['content-type'] !== undefined && { 'content-type': answer.headers['content-type'] }) };
    return new Response(answer.status === 204 || answer.status === 304 ? null : answer.body, {
      status: answer.status,
      headers: headersOnly,
    });
  };
  return { fetch, failure: () => failed };
}
