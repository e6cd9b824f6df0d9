// Pictures of a tenant, by the SHA-256 of their bytes: what is served never changes under its address.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ImageTable {
  tenant_id: TenantId;
  sha256: string;
  type: string;
  width: number;
  height: number;
  size_bytes: number;
  /** base64 */
  content: string;
  created_at: number;
}

export type StoredImage = Readonly<ImageTable>;
export type ImageFacts = Omit<StoredImage, 'tenant_id' | 'content'>;
export type NewImage = Omit<StoredImage, 'tenant_id' | 'created_at'>;

const facts = ['sha256', 'type', 'width', 'height', 'size_bytes', 'created_at'] as const;

/** Keeps a picture; one that is there already stays. */
export async function insertImage(queries: Queries, tenant: TenantId, image: NewImage): Promise<void> {
  await queries
    .insertInto('images')
    .values({ tenant_id: tenant, ...image, created_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .execute();
}

export async function findImage(queries: Queries, tenant: TenantId, sha256: string): Promise<StoredImage | undefined> {
  return queries.selectFrom('images').selectAll().where('tenant_id', '=', tenant).where('sha256', '=', sha256).executeTakeFirst();
}

/** The facts of every picture, in the order of their names. */
export async function listImages(queries: Queries, tenant: TenantId): Promise<readonly ImageFacts[]> {
  return queries.selectFrom('images').select(facts).where('tenant_id', '=', tenant).orderBy('sha256').execute();
}

/** Whole pictures behind a name, in their order. */
export async function pageOfImages(queries: Queries, tenant: TenantId, after: string, limit: number): Promise<readonly StoredImage[]> {
  const query = queries.selectFrom('images').selectAll().where('tenant_id', '=', tenant).where('sha256', '>', after);
  return query.orderBy('sha256').limit(limit).execute();
}

/** False when there was none. */
export async function deleteImage(queries: Queries, tenant: TenantId, sha256: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('images')
    .where('tenant_id', '=', tenant)
    .where('sha256', '=', sha256)
    .returning('sha256')
    .execute();
  return rows.length === 1;
}
