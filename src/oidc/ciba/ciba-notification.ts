// What is kept, under the master key, to notify a ping or push client: its own token and the auth_req_id we know only by hash.
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { cibaNotificationPurpose, cibaPayloadPurpose } from '../../crypto/sealed-columns.ts';
import type { TenantId } from '../../domain/ids.ts';

interface CibaNotification {
  readonly authReqId: string;
  readonly token: string;
}

export const sealNotification = (encryption: KeyEncryption, tenant: TenantId, id: string, notification: CibaNotification): string =>
  encryption.encrypt(JSON.stringify(notification), cibaNotificationPurpose(tenant, id));

export const openNotification = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): CibaNotification =>
  JSON.parse(encryption.decrypt(sealed, cibaNotificationPurpose(tenant, id)).toString()); // sealNotification wrote it

/** The body of a push, so that a retry sends the same bytes. */
export const sealPayload = (encryption: KeyEncryption, tenant: TenantId, id: string, payload: string): string =>
  encryption.encrypt(payload, cibaPayloadPurpose(tenant, id));

export const openPayload = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): string =>
  encryption.decrypt(sealed, cibaPayloadPurpose(tenant, id)).toString();
