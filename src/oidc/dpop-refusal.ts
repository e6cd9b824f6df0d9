// How the token endpoint and PAR answer a DPoP proof they do not take (RFC 9449 5, 8): with a fresh nonce for the next try.
import { reject } from '../contract/contract-error.ts';
import type { EndpointReply, EndpointRequest } from '../http/endpoint.ts';
import type { Services } from '../http/services.ts';
import { isNonceFailure, offerNonce, verifyProof } from './dpop-proof.ts';

/** The thumbprint the request proves, or the row of what is wrong with its proof. Every answer carries the next nonce. */
export async function requireProof(services: Services, request: EndpointRequest, reply: EndpointReply, endpoint: string): Promise<string> {
  const verified = await verifyProof(services, request, { endpoint, accessToken: undefined, needsNonce: true });
  offerNonce(services, request, reply);
  if (verified.ok) return verified.thumbprint;
  if (isNonceFailure(verified.reason)) throw reject('dpop.use_nonce', verified.reason);
  throw reject('dpop.invalid_proof', verified.reason);
}
