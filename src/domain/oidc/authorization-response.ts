// How an authorization response travels to its client: response modes (OAuth 2.0 Multiple Response Types 2.1, Form Post Response
// Mode, JARM), and where a browser is sent with one. Pure; the signing of a response is approvals/authorization-delivery.
import type { ClientId } from '../ids.ts';

/** `jwt` is `query.jwt` for codes (JARM 2.3.4); fragments are not offered, as nothing but codes is answered. */
export const responseModes = ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'] as const;
export type ResponseMode = (typeof responseModes)[number];

export const isResponseMode = (text: string): text is ResponseMode => (responseModes as readonly string[]).includes(text);

export interface AuthorizationResponse {
  readonly clientId: ClientId;
  readonly redirectUri: string;
  readonly mode: ResponseMode;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Where a browser goes; with `fields` it posts them there, by a form. */
export interface Destination {
  readonly location: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** An address with parameters in its query (RFC 6749 4.1.2); absent ones are left out. */
export function withQuery(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  const text = query.toString();
  return text === '' ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${text}`;
}
