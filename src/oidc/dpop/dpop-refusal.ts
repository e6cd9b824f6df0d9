// How the token endpoint and PAR answer a DPoP proof they do not take, or miss (RFC 9449 5, 8): with a fresh nonce for the next try.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { assertionPublicKeyAlgs } from '../../crypto/assertion-algorithms.ts';
import type { Client } from '../../domain/client/client.ts';
import { algsOfProfile } from '../../domain/client/fapi2.ts';
import { hasProof, isNonceFailure, offerNonce, type ProofDeps, verifyProof } from './dpop-proof.ts';

/** The thumbprint the request proves, or the row of what is wrong with its proof. Every answer carries the next nonce. */
export async function requireProof(
  services: ProofDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  client: Client,
  endpoint: string,
): Promise<string> {
  const algs = algsOfProfile(client, assertionPublicKeyAlgs);
  const verified = await verifyProof(services, request, { endpoint, accessToken: undefined, needsNonce: true, algs });
  offerNonce(services, request, reply);
  if (verified.ok) return verified.thumbprint;
  if (isNonceFailure(verified.reason)) throw reject('dpop.use_nonce', verified.reason);
  throw reject('dpop.invalid_proof', verified.reason);
}

/** The key the tokens of a token request are bound to; undefined for none, which a client registered for DPoP may not ask for. */
export async function proofKeyOf(
  services: ProofDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  client: Client,
): Promise<string | undefined> {
  if (hasProof(request)) return requireProof(services, request, reply, client, 'token');
  if (!client.dpopBoundAccessTokens) return undefined;
  offerNonce(services, request, reply);
  throw reject('dpop.invalid_proof', 'proof_missing');
}
