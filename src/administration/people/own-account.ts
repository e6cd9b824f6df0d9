// What people do to their own account: devices, sessions and language go through here with the id of the person who is signed
// in, so that nothing of anybody else can be named. Each is one transaction with its audit record. Called by the account page.

import type { Json } from '../../domain/field.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import { changeCustom, fromCustomCell, toCustomCells } from '../../domain/people/custom-attributes.ts';
import { emailPinMethod } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { revokeDevice } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { ManagedByDirectory } from '../../storage/people/directories/ldap-people.ts';
import { renameOwnDevice } from '../../storage/people/own-account.ts';
import { changeUser } from '../../storage/people/user-writer.ts';
import { lockUser } from '../../storage/people/users.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { unlessTaken } from '../taken.ts';
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
 * existing device, or the PIN of the mail, which the token demands under that policy. Undefined where `mayAdd`, asked in the
 * transaction, says no.
 */
export function enrollOwnDevice(
  store: Store,
  { tenant, userId, by }: Self,
  mayAdd: (queries: Queries) => Promise<boolean>,
): Promise<Enrollment | undefined> {
  if (!mayAddDevice(tenant)) throw new Error('the tenant leaves devices to administrators');
  const requirePin = tenant.settings.device.additional_device === emailPinMethod;
  return store.database.write(tenant.id, async (queries) => {
    if (!(await mayAdd(queries))) return undefined;
    const enrollment = await createEnrollment(queries, store, tenant, userId, requirePin);
    await recordEnrollment(queries, store, tenant, by, { userId, requirePin });
    return enrollment;
  });
}

type OwnChange =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** `managed`: a directory of LDAP says it. */
      readonly reason: 'invalid' | 'taken' | 'managed';
      readonly field: string;
    };

/** Runs a write of somebody's own. */
async function unlessManaged(write: () => Promise<OwnChange>): Promise<OwnChange> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof ManagedByDirectory) return { ok: false, reason: 'managed', field: error.fields[0] };
    throw error;
  }
}

/** Lays what the person says over their attributes; `field` names one that others write, one that does not fit or is taken. */
export const setOwnAttributes = (store: Store, self: Self, given: Json): Promise<OwnChange> =>
  unlessManaged(() => writeOwnAttributes(store, self, given));

async function writeOwnAttributes(store: Store, { tenant, userId, by }: Self, given: Json): Promise<OwnChange> {
  const { id, customAttributes } = tenant;
  const foreign = Object.keys(given).find((name) => !customAttributes.some((one) => one.name === name && one.edit === 'person'));
  if (foreign !== undefined) return { ok: false, reason: 'invalid', field: `custom.${foreign}` };
  const done = await unlessTaken('custom', () =>
    store.database.write(id, async (queries) => {
      const row = await lockUser(queries, store.database.dialect, id, userId);
      const reading = changeCustom(customAttributes, fromCustomCell(customAttributes, row?.custom ?? null), given);
      if (row === undefined || !reading.ok) return reading;
      await changeUser(queries, id, userId, { custom: toCustomCells(customAttributes, reading.values) });
      const data = { fields: Object.keys(given).map((name) => `custom.${name}`) };
      await recordAct(queries, store, id, by, { type: 'user.updated', target: `user:${userId}`, data });
      return reading;
    }),
  );
  if (!done.ok) return { ok: false, reason: 'taken', field: done.field ?? 'custom' };
  return done.value.ok ? { ok: true } : { ok: false, reason: 'invalid', field: done.value.field };
}

/** Sets the language of pages and mails; null leaves it to the profile's locale and the browser. */
export const setLanguage = (store: Store, self: Self, language: Language | null): Promise<OwnChange> =>
  unlessManaged(() => writeLanguage(store, self, language));

async function writeLanguage(store: Store, { tenant, userId, by }: Self, language: Language | null): Promise<OwnChange> {
  return store.database.write(tenant.id, async (queries) => {
    await lockUser(queries, store.database.dialect, tenant.id, userId);
    const changed = await changeUser(queries, tenant.id, userId, { profile: { preferred_language: language } });
    if (changed !== undefined)
      await recordAct(queries, store, tenant.id, by, {
        type: 'user.updated',
        target: `user:${userId}`,
        data: { fields: ['preferred_language'] },
      });
    return { ok: true };
  });
}
