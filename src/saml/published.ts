// What anybody may fetch: our metadata and our certificates.
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import type { Services } from '../http/services.ts';
import { rawTargetOf } from '../http/tenant-name.ts';
import { findPublishedCertificate, samlKeysOf } from '../tokens/saml-keys.ts';
import { idpEntityId, ssoUrl } from './idp.ts';
import { buildIdpMetadata } from './idp-metadata.ts';
import { parseParameters } from './parameters.ts';

const cacheControl = 'public, max-age=300';

export async function answerMetadata(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const { current, next } = await samlKeysOf(services, tenant);
  const xml = buildIdpMetadata(idpEntityId(tenant), ssoUrl(tenant), [current.certificate, next.certificate]);
  const etag = `"${hash('sha256', xml, 'base64url')}"`;
  reply.headers({ etag, 'cache-control': cacheControl });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  return reply.headers({ 'content-type': 'application/samlmetadata+xml; charset=utf-8', 'x-content-type-options': 'nosniff' }).send(xml);
}

export async function answerCertificate(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const target = rawTargetOf(request.raw);
  const reading = parseParameters(target.includes('?') ? target.slice(target.indexOf('?') + 1) : '');
  if (!reading.ok) throw reject('saml.invalid_request', { reason: reading.reason, received: reading.name });
  const kid = reading.parameters.get('kid')?.value;
  const ring = await samlKeysOf(services, request.tenant);
  const pem = findPublishedCertificate(ring, kid, services.clock.nowMs());
  if (pem === undefined) throw reject('saml.certificate_not_found', { reason: 'kid_not_published', received: kid });
  return reply
    .headers({ 'content-type': 'application/x-pem-file', 'cache-control': cacheControl, 'x-content-type-options': 'nosniff' })
    .send(pem);
}
