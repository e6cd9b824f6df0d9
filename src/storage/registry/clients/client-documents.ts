// The documents at the URLs that are client_ids (draft-ietf-oauth-client-id-metadata-document), as they were fetched: so many a tenant, the
// oldest unused out. Written by strangers, so nothing of it is configuration. Times are of the process that fetched.
import { sql } from 'kysely';
import type { Client } from '../../../domain/client/client.ts';
import { documentsPerTenantMax, isDocumentId } from '../../../domain/client/stranger.ts';
import { clientOfDocument } from '../../../domain/client/stranger-metadata.ts';
import type { ClientId, TenantId } from '../../../domain/ids.ts';
import type { Queries } from '../../engine/database.ts';
import { findClient } from './clients.ts';

export interface ClientDocumentTable {
  tenant_id: TenantId;
  client_id: ClientId;
  /** Its text. */
  document: string;
  fetched_at: number;
  fresh_until: number;
  used_at: number;
}

type ClientDocument = Readonly<ClientDocumentTable>;

export async function findClientDocument(queries: Queries, tenant: TenantId, clientId: ClientId): Promise<ClientDocument | undefined> {
  return queries
    .selectFrom('client_documents')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
}

/** Keeps what was fetched; beyond so many, the one that nobody used for longest goes. */
export async function storeClientDocument(queries: Queries, document: ClientDocument): Promise<void> {
  const { tenant_id: tenant, client_id: _id, ...values } = document;
  await queries
    .insertInto('client_documents')
    .values(document)
    .onConflict((on) => on.columns(['tenant_id', 'client_id']).doUpdateSet(values))
    .execute();
  const beyond = queries
    .selectFrom('client_documents')
    .select('client_id')
    .where('tenant_id', '=', tenant)
    .where('used_at', '>', 0)
    .orderBy('used_at', 'desc')
    .limit(documentsPerTenantMax)
    .offset(documentsPerTenantMax);
  await queries.deleteFrom('client_documents').where('tenant_id', '=', tenant).where('client_id', 'in', beyond).execute();
}

/** Notes that a document was used; written now and then. */
export async function useClientDocument(
  queries: Queries,
  tenant: TenantId,
  clientId: ClientId,
  { nowMs, everyMs }: { readonly nowMs: number; readonly everyMs: number },
): Promise<void> {
  await queries
    .updateTable('client_documents')
    .set({ used_at: nowMs })
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId)
    .where(sql<number>`used_at + ${everyMs}`, '<', nowMs)
    .execute();
}

/** A client, or what the document of one says that no person has let in yet. */
export async function findClientOrDocument(queries: Queries, tenant: TenantId, clientId: ClientId): Promise<Client | undefined> {
  const client = await findClient(queries, tenant, clientId);
  if (client !== undefined || !isDocumentId(clientId)) return client;
  const stored = await findClientDocument(queries, tenant, clientId);
  const read = stored && clientOfDocument(clientId, stored.document, stored.fetched_at);
  return read?.ok === true ? read.client : undefined;
}
