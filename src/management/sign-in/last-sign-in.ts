// `last_sign_in_at` of people and applications: shown where they are read, absent while no sign-in is known, never written.
import Type from 'typebox';
import { listLastSignIns, type SignedInKind } from '../../storage/registry/last-sign-ins.ts';
import { type Call, isoTime, type Json } from '../endpoint.ts';
import { dateTime } from '../schemas.ts';

/** The property in an answer. */
export const signedIn = { last_sign_in_at: Type.Optional(dateTime) };

type Reading = Pick<Call<unknown, unknown>, 'tenant'> & { readonly services: Pick<Call<unknown, unknown>['services'], 'database'> };

interface Of {
  readonly kind: SignedInKind;
  /** The property that is its id. */
  readonly idName: string;
}

/** A list answer, each item with the time of its own: one statement a page. */
export async function withLastSignIns(reading: Reading, of: Of, list: Json): Promise<Json> {
  return { ...list, items: await addTimes(reading, of, list['items'] as readonly Json[]) }; // a list answer
}

/** The same for one thing. */
export async function withLastSignIn(reading: Reading, of: Of, json: Json): Promise<Json> {
  const [shown] = await addTimes(reading, of, [json]);
  return shown!;
}

async function addTimes({ services, tenant }: Reading, { kind, idName }: Of, items: readonly Json[]): Promise<readonly Json[]> {
  const ids = items.map((item) => String(item[idName]));
  const { dialect } = services.database;
  const times = await services.database.read(tenant.id, (queries) => listLastSignIns(queries, dialect, tenant.id, { kind, ids }));
  return items.map((item) => {
    const atMs = times.get(String(item[idName]));
    return atMs === undefined ? item : { ...item, last_sign_in_at: isoTime(atMs) };
  });
}
