// `/images`: the tenant's pictures, for its branding and its clients' logos. Each is served at `{base_url}/assets/<sha256>`.
import Type from 'typebox';
import { addImage, pictureExpected, removeImage } from '../../administration/appearance/images.ts';
import { imagesPerTenantMax } from '../../contract/limits.ts';
import { assetUrl } from '../../domain/appearance/branding.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { type ImageFacts, listImages } from '../../storage/registry/images.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { dateTime } from '../schemas.ts';

const image = Type.Object({
  sha256: Type.String(),
  type: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  size_bytes: Type.Integer(),
  url: Type.String(),
  created_at: dateTime,
});

export const imageEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/images',
    capability: 'branding:read',
    summary: `List the tenant's images, ${imagesPerTenantMax} at most`,
    answer: Type.Object({ items: Type.Array(image) }),
    status: 200,
    handle: async ({ services, tenant }) => {
      const images = await services.database.read(tenant.id, (queries) => listImages(queries, tenant.id));
      return { items: images.map((one) => toJson(tenant, one)) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/images',
    capability: 'branding:write',
    summary: 'Upload an image: a PNG, JPEG or WebP as the body; it is kept without what draws nothing',
    takesBytes: true,
    answer: image,
    status: 201,
    handle: add,
  }),
  endpoint({
    method: 'DELETE',
    path: '/images/:sha256',
    capability: 'branding:write',
    summary: 'Delete an image that the branding does not show',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const done = await removeImage(services, tenant.id, params['sha256']!, { actor, requestId });
      if (done === 'unknown') throw notFound('unknown_image');
      if (done === 'in_use') throw conflict('sha256', 'The branding, its draft or an organisation shows this image.');
    },
  }),
];

async function add({ services, tenant, body, actor, requestId }: Call<undefined, undefined>): Promise<Json> {
  const added = await addImage(services, tenant.id, Buffer.isBuffer(body) ? body : Buffer.alloc(0), { actor, requestId });
  if (added.ok) return toJson(tenant, added.image);
  throw added.reason === 'too_many'
    ? conflict('images', `A tenant has at most ${imagesPerTenantMax} images. Delete one first.`)
    : invalidField('image', `The body must be ${pictureExpected}.`);
}

const toJson = (tenant: Tenant, { created_at: createdAt, ...facts }: ImageFacts): Json => ({
  ...facts,
  url: assetUrl(tenant, facts.sha256),
  created_at: isoTime(createdAt),
});
