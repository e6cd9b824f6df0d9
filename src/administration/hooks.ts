// Hooks (design 16, 3) as the Management API and documents handle them: registration, change, new secrets, deletion. Secrets are made
// and sealed here; each is shown once.

import { type Hook, type HookChange, type HookValues, hookFields } from '../domain/extending/hook.ts';
import { type FieldFault, type Json, overlay, readChange, valueFault } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { deleteHook, insertHook, listHooks, setHookSecrets, updateHook } from '../storage/registry/hooks.ts';
import { makeHookSecret, sealHookSecret } from '../tokens/hook-secret.ts';
import { type Administration, type By, recordAct } from './administration.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'encryption'>;
type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };

/** How long the secret before a rotation signs too. */
const previousSecretMs = 24 * 60 * 60_000;

export const findHook = async (queries: Queries, tenant: TenantId, id: string): Promise<Hook | undefined> =>
  (await listHooks(queries, tenant)).find((hook) => hook.id === id);

/** Registers a hook, and gives it with its secret. */
export async function createHook(
  store: Store,
  tenant: TenantId,
  given: HookChange,
  by: By,
): Promise<Outcome<{ readonly hook: Hook; readonly secret: string }, 'taken'> | Refused> {
  const fault = valueFault(hookFields, given as Json);
  if (fault !== undefined) return { ...fail('invalid'), fault };
  const id = uuidV7(store.clock.nowMs());
  const secret = makeHookSecret();
  return store.cache.write(tenant, async (queries) => {
    if (!(await addHook(queries, store, tenant, { id, values: overlay(hookFields, given as Json), secret }, by))) return fail('taken');
    return { ok: true, hook: (await findHook(queries, tenant, id))!, secret };
  });
}

/** Stores a hook with its audit record; false when its point has one. */
export async function addHook(
  queries: Queries,
  store: Pick<Store, 'clock' | 'encryption'>,
  tenant: TenantId,
  { id, values, secret }: { readonly id: string; readonly values: HookValues; readonly secret: string },
  by: By,
): Promise<boolean> {
  const hook = { ...values, id, secretSealed: sealHookSecret(store.encryption, tenant, id, secret) };
  if (!(await insertHook(queries, tenant, hook))) return false;
  await recordAct(queries, store, tenant, by, { type: 'hook.created', target: `hook:${id}`, data: { point: values.point } });
  return true;
}

/** Changes a hook by the fields given. */
export async function changeHook(
  store: Store,
  tenant: TenantId,
  id: string,
  given: HookChange,
  by: By,
): Promise<Outcome<{ readonly hook: Hook }, 'unknown'> | Refused> {
  const fault = valueFault(hookFields, given as Json);
  if (fault !== undefined) return { ...fail('invalid'), fault };
  return store.cache.write(tenant, async (queries) => {
    if (!(await updateHook(queries, tenant, id, readChange(hookFields, given as Json)))) return fail('unknown');
    await recordAct(queries, store, tenant, by, { type: 'hook.updated', target: `hook:${id}`, data: { fields: Object.keys(given) } });
    return { ok: true, hook: (await findHook(queries, tenant, id))! };
  });
}

/** Gives a hook a new secret; the one before signs too for a day. Undefined when there is no such hook. */
export async function rotateHookSecret(store: Store, tenant: TenantId, id: string, by: By): Promise<string | undefined> {
  const secret = makeHookSecret();
  return store.cache.write(tenant, async (queries) => {
    const hook = await findHook(queries, tenant, id);
    if (hook === undefined) return undefined;
    await setHookSecrets(queries, tenant, id, {
      secretSealed: sealHookSecret(store.encryption, tenant, id, secret),
      previousSealed: hook.secretSealed,
      previousUntilMs: store.clock.nowMs() + previousSecretMs,
    });
    await recordAct(queries, store, tenant, by, { type: 'hook.secret_rotated', target: `hook:${id}` });
    return secret;
  });
}

/** Deletes a hook; false when there is none. */
export async function removeHook(queries: Queries, store: Pick<Store, 'clock'>, tenant: TenantId, id: string, by: By): Promise<boolean> {
  if (!(await deleteHook(queries, tenant, id))) return false;
  await recordAct(queries, store, tenant, by, { type: 'hook.deleted', target: `hook:${id}` });
  return true;
}
