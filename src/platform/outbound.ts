// The one guarded way out: HTTP calls to addresses that tenants registered (jwks_uri, CIBA notifications).
// Names are resolved once and the connection is pinned to a checked address; private ranges need the allow list;
// redirects are never followed; size and time are capped.

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
}

export type OutboundResult =
  | { readonly ok: true; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly ok: false; readonly reason: 'refused_address' | 'refused_scheme' | 'unresolved' | 'timeout' | 'too_large' | 'network' };

export interface Outbound {
  readonly fetch: (request: OutboundRequest) => Promise<OutboundResult>;
}
