// `last_sign_in_at` of people and applications, and `last_used_at` of clients: shown where they are read, absent while none is known, never
// written.
import Type from 'typebox';
import { listLastSignIns, listLastUses, type SignedInKind } from '../../storage/registry/last-sign-ins.ts';
import { type Call, isoTime, type Json } from '../endpoint.ts';
import { dateTime } from '../schemas.ts';

/** The property in an answer. */
export const signedIn = { last_sign_in_at: Type.Optional(dateTime) };
/** The properties in an answer about a client. */
export const usedClient = {
  ...signedIn,
  last_used_at: Type.Optional({ ...dateTime, description: 'when it last got a token or signed somebody in, to the hour' }),
};

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
  const [signIns, uses] = await services.database.read(tenant.id, async (queries) => [
    await listLastSignIns(queries, dialect, tenant.id, { kind, ids }),
    kind === 'client' ? await listLastUses(queries, dialect, tenant.id, ids) : none,
  ]);
  return items.map((item) => {
    const id = String(item[idName]);
    const times = { last_sign_in_at: signIns.get(id), last_used_at: uses.get(id) };
    const known = Object.entries(times).flatMap(([name, atMs]) => (atMs === undefined ? [] : [[name, isoTime(atMs)]]));
    return { ...item, ...Object.fromEntries(known) };
  });
}

const none: ReadonlyMap<string, number> = new Map();
