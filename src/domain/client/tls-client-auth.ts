// How a client is known by its certificate (RFC 8705 2): the fields of its registration, what they mean together, and the methods.
// Pure; client.ts owns the client.
import { urlCharsMax } from '../../contract/limits.ts';
import { type FieldFault, field, flag, text } from '../field.ts';

const tlsClientAuth = 'tls_client_auth' as const;
export const selfSignedTlsClientAuth = 'self_signed_tls_client_auth' as const;
/** Methods whose credential is the certificate of the connection. */
export const certificateMethods = [tlsClientAuth, selfSignedTlsClientAuth] as const;

export const isCertificateMethod = (method: string): boolean => (certificateMethods as readonly string[]).includes(method);

/** The parts of a client's form that its fields here stand in. */
export const credentialsTab = 'Credentials';
export const tokensTab = 'Tokens & claims';

const tab = credentialsTab;
const help = 'Exactly one of these, for a certificate of a CA.';

/** RFC 4514: `type=value` parts with commas between. */
const subjectSyntax = /^[A-Za-z0-9.-]+=.+$/s;

export const tlsClientAuthFields = {
  tlsClientAuthSubjectDn: field('tls_client_auth_subject_dn', text(urlCharsMax), {
    label: 'Subject of its certificate',
    tab,
    help: `${help} As RFC 4514 writes it, e.g. CN=payments,O=Example,C=SE.`,
    check: (subject) => (subjectSyntax.test(subject) ? undefined : 'must be a distinguished name such as CN=payments,O=Example,C=SE'),
  }),
  tlsClientAuthSanDns: field('tls_client_auth_san_dns', text(urlCharsMax), { label: 'DNS name in its certificate', tab, help }),
  tlsClientAuthSanUri: field('tls_client_auth_san_uri', text(urlCharsMax), { label: 'URI in its certificate', tab, help }),
  tlsClientAuthSanIp: field('tls_client_auth_san_ip', text(urlCharsMax), { label: 'IP address in its certificate', tab, help }),
  tlsClientAuthSanEmail: field('tls_client_auth_san_email', text(urlCharsMax), { label: 'Email in its certificate', tab, help }),
  tlsClientCertificateBoundAccessTokens: field('tls_client_certificate_bound_access_tokens', flag, {
    default: false,
    label: 'Tokens are bound to a certificate (mTLS)',
    tab: tokensTab,
    help: 'Every token request must come with a client certificate (RFC 8705).',
  }),
} as const;

interface Certified {
  readonly tokenEndpointAuthMethod: string;
  readonly jwks: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | undefined;
  readonly jwksUri: string | undefined;
  readonly tlsClientAuthSubjectDn: string | undefined;
  readonly tlsClientAuthSanDns: string | undefined;
  readonly tlsClientAuthSanUri: string | undefined;
  readonly tlsClientAuthSanIp: string | undefined;
  readonly tlsClientAuthSanEmail: string | undefined;
}

/** The name a certificate must hold, by where it holds it. */
export const certificateNamesOf = (
  client: Certified,
): readonly (readonly [where: 'subject' | 'dns' | 'url' | 'ip' | 'email', name: string])[] =>
  (
    [
      ['subject', client.tlsClientAuthSubjectDn],
      ['dns', client.tlsClientAuthSanDns],
      ['url', client.tlsClientAuthSanUri],
      ['ip', client.tlsClientAuthSanIp],
      ['email', client.tlsClientAuthSanEmail],
    ] as const
  ).flatMap(([where, name]) => (name === undefined ? [] : [[where, name] as const]));

/** What of the registration does not fit its method. */
export function certificateFault(client: Certified): FieldFault | undefined {
  const { tokenEndpointAuthMethod: method, jwks, jwksUri } = client;
  const names = certificateNamesOf(client).length;
  const field = tlsClientAuthFields.tlsClientAuthSubjectDn.name;
  if (method === tlsClientAuth && names !== 1)
    return { field, text: 'or one tls_client_auth_san_* field is required for tls_client_auth, and no second one' };
  if (method !== tlsClientAuth && names > 0) return { field, text: 'and tls_client_auth_san_* are for tls_client_auth only' };
  if (method === selfSignedTlsClientAuth && jwksUri === undefined && jwks?.keys.some(({ x5c }) => Array.isArray(x5c)) !== true)
    return { field: 'jwks', text: 'with a certificate in x5c, or jwks_uri, is required for self_signed_tls_client_auth' };
  return undefined;
}
