// What anybody may fetch: our metadata and our certificates.
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { defaultNameIdFormats } from '../domain/saml/name-id.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { rawTargetOf } from '../http/tenant-name.ts';
import { recordMetadataRead } from '../storage/saml/metadata-reads.ts';
import { findOwnCertificate, publishedFor } from '../tokens/own-saml-keys.ts';
import { findPublishedCertificate, publishedCertificates, samlKeysOf } from '../tokens/saml-keys.ts';
import { idpEntityId, ssoUrl } from './idp.ts';
import { buildIdpMetadata, type IdpMetadata } from './idp-metadata.ts';
import { parseParameters } from './parameters.ts';
import { findProviderById } from './providers.ts';

type PublishDeps = Parts<'cache' | 'clock' | 'database' | 'encryption'>;

const cacheControl = 'public, max-age=300';

/** The metadata for everybody: no provider's settings are in it. */
export async function answerMetadata(services: PublishDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const ring = await samlKeysOf(services, request.tenant);
  const certificates = publishedCertificates(ring, services.clock.nowMs());
  const shared = { certificates, nameIdFormats: defaultNameIdFormats, wantAuthnRequestsSigned: false };
  return sendMetadata(request, reply, metadataOf(request.tenant, shared));
}

/** The metadata one provider reads: what holds for it. Who has read it is remembered, for the key rotation to wait for. */
export async function answerProviderMetadata(services: PublishDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const { id } = request.params as { readonly id: string }; // the route's
  const open = await findProviderById(services.cache, tenant.id, id);
  if (open === undefined) throw reject('oauth.not_found', { reason: 'service_provider_unknown', received: id });
  const { provider } = open;
  const { certificates, nextMadeAtMs } = await publishedFor(services, tenant, provider);
  await recordMetadataRead(services.database, tenant.id, provider.id, nextMadeAtMs);
  const own = { certificates, nameIdFormats: provider.nameIdFormats, wantAuthnRequestsSigned: provider.requireSignedRequests };
  return sendMetadata(request, reply, metadataOf(tenant, own));
}

function metadataOf(tenant: Tenant, reader: Omit<IdpMetadata, 'entityId' | 'ssoUrl'>): string {
  return buildIdpMetadata({ entityId: idpEntityId(tenant), ssoUrl: ssoUrl(tenant), ...reader });
}

function sendMetadata(request: FastifyRequest, reply: FastifyReply, xml: string): FastifyReply {
  const etag = `"${hash('sha256', xml, 'base64url')}"`;
  reply.headers({ etag, 'cache-control': cacheControl });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  return reply.headers({ 'content-type': 'application/samlmetadata+xml; charset=utf-8', 'x-content-type-options': 'nosniff' }).send(xml);
}

export async function answerCertificate(services: PublishDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const target = rawTargetOf(request.raw);
  const reading = parseParameters(target.includes('?') ? target.slice(target.indexOf('?') + 1) : '');
  if (!reading.ok) {
    const cause = { reason: reading.reason, received: reading.name };
    if (reading.reason === 'bad_percent_encoding' && reading.name === 'kid') throw reject('saml.certificate_not_found', cause);
    throw reject('saml.invalid_request', cause);
  }
  const kid = reading.parameters.get('kid')?.value;
  const ring = await samlKeysOf(services, request.tenant);
  const shared = findPublishedCertificate(ring, kid, services.clock.nowMs());
  const pem = shared ?? (kid === undefined ? undefined : await findOwnCertificate(services, request.tenant, kid));
  if (pem === undefined) throw reject('saml.certificate_not_found', { reason: 'kid_not_published', received: kid });
  return reply
    .headers({ 'content-type': 'application/x-pem-file', 'cache-control': cacheControl, 'x-content-type-options': 'nosniff' })
    .send(pem);
}
