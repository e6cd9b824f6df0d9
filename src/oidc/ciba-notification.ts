// What is kept, under the master key, to notify a ping or push client: its own token and the auth_req_id we know only by hash.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { TenantId } from '../domain/ids.ts';

export interface CibaNotification {
  readonly authReqId: string;
  readonly token: string;
}

const notificationPurpose = (tenant: TenantId, id: string): string => `ciba-notification:${tenant}:${id}`;
const payloadPurpose = (tenant: TenantId, id: string): string => `ciba-push:${tenant}:${id}`;

export const sealNotification = (encryption: KeyEncryption, tenant: TenantId, id: string, notification: CibaNotification): string =>
  encryption.encrypt(JSON.stringify(notification), notificationPurpose(tenant, id));

export const openNotification = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): CibaNotification =>
  JSON.parse(encryption.decrypt(sealed, notificationPurpose(tenant, id)).toString()); // sealNotification wrote it

/** The body of a push, so that a retry sends the same bytes. */
export const sealPayload = (encryption: KeyEncryption, tenant: TenantId, id: string, payload: string): string =>
  encryption.encrypt(payload, payloadPurpose(tenant, id));

export const openPayload = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): string =>
  encryption.decrypt(sealed, payloadPurpose(tenant, id)).toString();
