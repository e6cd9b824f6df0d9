// Pictures of a tenant: taken by what their bytes are, cleaned of everything that draws nothing, kept by their SHA-256.
import { createHash } from 'node:crypto';
import { imageBytesMax, imagePixelsMax, imagesPerTenantMax } from '../../contract/limits.ts';
import { brandingFields } from '../../domain/appearance/branding.ts';
import type { FieldFault, Json } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { readPicture } from '../../platform/images/picture.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { dialectOf } from '../../storage/engine/rows/id-list.ts';
import { findCustomization } from '../../storage/registry/customizations.ts';
import { deleteImage, findImage, type ImageFacts, insertImage, listImages, type NewImage } from '../../storage/registry/images.ts';
import { showsInOrganization } from '../../storage/registry/organizations.ts';
import { findTenantById, lockTenantSettings } from '../../storage/registry/tenants.ts';
import { type Administration, type By, recordAct } from '../administration.ts';

type Store = Pick<Administration, 'cache' | 'clock'>;

/** What is expected of a picture, for whoever sent something else. */
export const pictureExpected = `a PNG, JPEG or WebP of at most ${imageBytesMax / 1024} kB and ${imagePixelsMax} pixels a side, not moving`;

/** A picture as it is kept; undefined for what is none. */
export function readImage(bytes: Buffer): NewImage | undefined {
  const picture = bytes.length > imageBytesMax ? undefined : readPicture(bytes, imagePixelsMax);
  if (picture === undefined) return undefined;
  const sha256 = createHash('sha256').update(picture.bytes).digest('hex');
  const { type, width, height } = picture;
  return { sha256, type, width, height, size_bytes: picture.bytes.length, content: picture.bytes.toString('base64') };
}

/** Keeps a picture; the same one again is the same. */
export async function addImage(
  store: Store,
  tenant: TenantId,
  bytes: Buffer,
  by: By,
): Promise<Outcome<{ readonly image: ImageFacts }, 'not_a_picture' | 'too_many'>> {
  const image = readImage(bytes);
  if (image === undefined) return fail('not_a_picture');
  return store.cache.write(tenant, async (queries) => {
    await lockTenantSettings(queries, dialectOf(queries), tenant); // others who add one are waited for
    const before = await listImages(queries, tenant);
    const known = before.find(({ sha256 }) => sha256 === image.sha256);
    if (known !== undefined) return { ok: true, image: known };
    if (before.length >= imagesPerTenantMax) return fail('too_many');
    await storeImage(queries, store, tenant, image, by);
    const { tenant_id: _, content: _content, ...facts } = (await findImage(queries, tenant, image.sha256))!; // stored above
    return { ok: true, image: facts };
  });
}

export async function storeImage(queries: Queries, store: Pick<Store, 'clock'>, tenant: TenantId, image: NewImage, by: By): Promise<void> {
  await insertImage(queries, tenant, image);
  const { type, width, height } = image;
  await recordAct(queries, store, tenant, by, { type: 'image.added', target: `image:${image.sha256}`, data: { type, width, height } });
}

/** Deletes a picture that neither the published branding nor its draft nor an organisation shows. */
export async function removeImage(store: Store, tenant: TenantId, sha256: string, by: By): Promise<'removed' | 'unknown' | 'in_use'> {
  return store.cache.write(tenant, async (queries) => {
    const { settings = '{}' } = (await findTenantById(queries, tenant)) ?? {};
    const row = await findCustomization(queries, tenant, { kind: 'branding', name: '' });
    const shown = [(JSON.parse(settings) as Json)['branding'], JSON.parse(row?.draft ?? '{}')] as readonly (Json | undefined)[];
    if (shown.some((branding) => imageNames.some((name) => branding?.[name] === sha256))) return 'in_use';
    if (/^[0-9a-f]{64}$/.test(sha256) && (await showsInOrganization(queries, tenant, sha256))) return 'in_use';
    if (!(await deleteImage(queries, tenant, sha256))) return 'unknown';
    await recordAct(queries, store, tenant, by, { type: 'image.deleted', target: `image:${sha256}` });
    return 'removed';
  });
}

const imageNames = [brandingFields.logo.name, brandingFields.favicon.name] as const;

/** The first field of a branding that names a picture the tenant does not have. */
export async function missingImage(queries: Queries, tenant: TenantId, branding: Json): Promise<FieldFault | undefined> {
  for (const field of imageNames) {
    const sha256 = branding[field];
    if (typeof sha256 === 'string' && (await findImage(queries, tenant, sha256)) === undefined)
      return { field, text: 'must be the SHA-256 of an image of the tenant: upload it first (POST /images)' };
  }
  return undefined;
}
