// Clients known by the certificate of their connection (RFC 8705 2), and the certificate tokens are bound to (3). What is wrong
// is one answer with every other failure of client authentication; its reason goes to the audit record.
import type { FastifyRequest } from 'fastify';
import { type Cause, reject } from '../../contract/contract-error.ts';
import { type ClientCertificate, holdsName } from '../../crypto/client-certificate.ts';
import type { Client } from '../../domain/client/client.ts';
import { certificateNamesOf, selfSignedTlsClientAuth } from '../../domain/client/tls-client-auth.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type ClientKeysDeps, clientJwks } from './client-keys.ts';

/** Why a certificate is not the client's, or undefined when it is. */
export async function findCertificateFault(
  services: ClientKeysDeps,
  tenant: TenantId,
  client: Client,
  certificate: ClientCertificate | undefined,
): Promise<Cause | undefined> {
  if (certificate === undefined) return { reason: 'certificate_missing' };
  if (client.tokenEndpointAuthMethod === selfSignedTlsClientAuth) return findUnregistered(services, tenant, client, certificate);
  if (!certificate.isVerified) return { reason: 'certificate_not_verified', received: certificate.thumbprint };
  const names = certificateNamesOf(client);
  for (const [place, name] of names)
    if (!(await holdsName(certificate, place, name))) return { reason: `certificate_${place}`, expected: name };
  return names.length === 0 ? { reason: 'certificate_not_registered' } : undefined;
}

/** RFC 8705 2.2: the very certificate of one of the client's keys; who signed it does not matter. */
async function findUnregistered(
  services: ClientKeysDeps,
  tenant: TenantId,
  client: Client,
  { raw, thumbprint }: ClientCertificate,
): Promise<Cause | undefined> {
  const presented = raw.toString('base64');
  for (const again of [false, true]) {
    const keys = await clientJwks(services, tenant, client, again);
    if (keys.some(({ x5c }) => Array.isArray(x5c) && x5c[0] === presented)) return undefined;
  }
  return { reason: 'certificate_not_registered', received: thumbprint };
}

/** The thumbprint the tokens of a request are bound to; undefined for none, which a client registered for it may not ask for. */
export function boundCertificate({ clientCertificate }: FastifyRequest, client: Client): string | undefined {
  if (!client.tlsClientCertificateBoundAccessTokens) return undefined;
  if (clientCertificate === undefined) throw reject('client.invalid_client', 'certificate_missing');
  return clientCertificate.thumbprint;
}

/** The confirmation of a token (RFC 7800): what its bearer must prove. */
export function confirmationOf(
  proofKey: string | undefined,
  certificate: string | undefined,
): { readonly cnf?: Readonly<Record<string, string>> } {
  if (proofKey === undefined && certificate === undefined) return {};
  return {
    cnf: { ...(proofKey === undefined ? {} : { jkt: proofKey }), ...(certificate === undefined ? {} : { 'x5t#S256': certificate }) },
  };
}
