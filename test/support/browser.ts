// A browser for tests over HTTP: keeps cookies as one does, follows nothing by itself, and asks for pages unless told otherwise.

export interface TestBrowser {
  /** Sends a request with the cookies so far and keeps what the answer sets. */
  readonly send: (url: string, init?: RequestInit) => Promise<Response>;
  /** The cookies by name. */
  readonly cookies: Map<string, string>;
}

/** Sends over HTTP, or to what answers requests in this process. */
export function openBrowser(network: (url: string, init: RequestInit) => Promise<Response> = fetch): TestBrowser {
  const cookies = new Map<string, string>();
  return {
    cookies,
    send: async (url, init = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { accept: 'application/json', ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) };
      const response = await network(url, { redirect: 'manual', ...init, headers });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';', 1);
        const name = pair.slice(0, pair.indexOf('='));
        if (/Max-Age=0\b/.test(line)) cookies.delete(name);
        else cookies.set(name, pair.slice(name.length + 1));
      }
      return response;
    },
  };
}
