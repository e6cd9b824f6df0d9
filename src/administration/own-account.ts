// What people do to their own account: devices, sessions and language go through here with the id of the person who is signed
// in, so that nothing of anybody else can be named. Each is one transaction with its audit record. Called by the account page.

import type { UserId } from '../domain/ids.ts';
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant.ts';
import { revokeDevice } from '../storage/devices.ts';
import { renameOwnDevice } from '../storage/own-account.ts';
import { updateUser } from '../storage/users.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { createEnrollment, type Enrollment, recordEnrollment } from './enrollments.ts';

type Store = Pick<Administration, 'database' | 'clock'>;

/** The signed-in person, and who is written down as having done it: the same. */
export interface Self {
  readonly tenant: Tenant;
  readonly userId: UserId;
  readonly by: By;
}

/** Renames an active device of the person; false when they have none of that id. */
export function renameDevice(store: Store, { tenant, userId, by }: Self, id: string, name: string): Promise<boolean> {
  return store.database.write(tenant.id, async (queries) => {
    if (!(await renameOwnDevice(queries, tenant.id, userId, id, name))) return false;
    await recordAct(queries, store, tenant.id, by, { type: 'device.renamed', target: `device:${id}`, data: { user: userId } });
    return true;
  });
}

/** Revokes a device of the person for good; false when they have no active one of that id. */
export function removeDevice(store: Store, { tenant, userId, by }: Self, id: string): Promise<boolean> {
  return store.database.write(tenant.id, async (queries) => {
    if (!(await revokeDevice(queries, tenant.id, id, userId))) return false;
    await recordAct(queries, store, tenant.id, by, { type: 'device.revoked', target: `device:${id}`, data: { user: userId } });
    return true;
  });
}

/** Whether people may add devices themselves: a token of theirs must not stand in for an administrator's word (design 05). */
export const mayAddDevice = ({ settings }: Tenant): boolean => settings.device.additional_device !== 'admin';

/**
 * Makes an enrolment token for the person. What else a further device needs is asked when it enrols: the word of an
 * existing device, or the PIN of the mail, which the token demands under that policy.
 */
export function enrollOwnDevice(store: Store, { tenant, userId, by }: Self): Promise<Enrollment> {
  if (!mayAddDevice(tenant)) throw new Error('the tenant leaves devices to administrators');
  const requirePin = tenant.settings.device.additional_device === 'email_pin';
  return store.database.write(tenant.id, async (queries) => {
    const enrollment = await createEnrollment(queries, store, tenant, userId, requirePin);
    await recordEnrollment(queries, store, tenant, by, userId, requirePin);
    return enrollment;
  });
}

/** Sets the language of pages and mails; null leaves it to the profile's locale and the browser. */
export async function setLanguage(store: Store, { tenant, userId, by }: Self, language: Language | null): Promise<void> {
  await store.database.write(tenant.id, async (queries) => {
    const changed = await updateUser(queries, tenant.id, userId, { preferred_language: language });
    if (changed !== undefined)
      await recordAct(queries, store, tenant.id, by, {
        type: 'user.updated',
        target: `user:${userId}`,
        data: { fields: ['preferred_language'] },
      });
  });
}
