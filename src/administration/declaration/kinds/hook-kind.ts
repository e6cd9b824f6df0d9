// Hooks in a document. A secret travels clear, and only when asked for; a document that says nothing of it leaves the known one
// alone, and a hook made without one gets a new one, which a rotation shows.
import Type from 'typebox';
import { type Hook, type HookChange, hookFields } from '../../../domain/extending/hook.ts';
import { overlay, toJson, valueFault } from '../../../domain/field.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import { listHooks, setHookSecrets, updateHook } from '../../../storage/registry/hooks.ts';
import { hookSecretSyntax, makeHookSecret, openHookSecret, sealHookSecret } from '../../../tokens/hook-secret.ts';
import { recordAct } from '../../administration.ts';
import { addHook, removeHook } from '../../hooks.ts';
import { closed, creationOf } from '../../schema-pieces.ts';
import { compact, faultAt, type Kind, type Session, type Stored } from '../document.ts';
import { uuid } from './uuid.ts';

const schema = closed({
  id: Type.Optional(uuid),
  ...creationOf(hookFields).properties,
  secret: Type.Optional(Type.String({ pattern: hookSecretSyntax })),
});

export const hookKind: Kind = {
  section: 'hooks',
  noun: 'hook',
  schema,
  uniqueField: 'point',
  isConfiguration: true,
  examine: (_session, declared) => {
    const { id, secret, ...item } = declared.value as HookChange & { readonly id?: string; readonly secret?: string }; // checked by the schema
    const fault = valueFault(hookFields, item);
    if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, item[fault.field as keyof typeof item]);
    const values = overlay(hookFields, item);
    return { id, title: values.point, fields: compact({ ...toJson(hookFields, values), secret }), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, session, items) => {
    const hooks = await listHooks(queries, session.tenant.id);
    return items.map(({ id, title, fields }) => {
      const named = hooks.find(({ point }) => point === title);
      const hook = id === undefined ? named : hooks.find((one) => one.id === id);
      if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `point is in use by hook ${named.id}` };
      if (hook !== undefined && hook.point !== title) return { conflict: `point stays ${hook.point}` };
      if (hook === undefined) return { stored: undefined };
      const stored = storedOf(session, hook);
      const { secret: _clear, ...known } = stored.fields;
      return { stored: fields['secret'] === undefined ? { ...stored, fields: known } : stored };
    });
  },
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      const { secret, ...fields } = desired.fields as { readonly secret?: string };
      const made = { id, values: overlay(hookFields, fields), secret: secret ?? makeHookSecret() };
      if (!(await addHook(queries, administration, tenant.id, made, by))) throw new ValueTaken('point');
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      const { secret, ...fields } = desired.fields as { readonly secret?: string };
      await updateHook(queries, tenant.id, stored.id, overlay(hookFields, fields));
      if (secret !== undefined && secret !== stored.fields['secret']) {
        const secretSealed = sealHookSecret(administration.encryption, tenant.id, stored.id, secret);
        await setHookSecrets(queries, tenant.id, stored.id, { secretSealed, previousSealed: undefined, previousUntilMs: undefined });
      }
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'hook.updated', target: `hook:${stored.id}`, data });
    }
  },
  page: async (queries, session, after) =>
    (await listHooks(queries, session.tenant.id)).filter(({ id }) => id > after).map((hook) => storedOf(session, hook)),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await removeHook(queries, administration, tenant.id, id, by);
  },
  write: (_session, { id, fields: { secret, ...plain } }, withSecrets) =>
    compact({ id, ...plain, secret: withSecrets ? secret : undefined }),
};

function storedOf({ administration, tenant }: Session, hook: Hook): Stored {
  const secret = openHookSecret(administration.encryption, tenant.id, hook.id, hook.secretSealed);
  return { id: hook.id, title: hook.point, fields: compact({ ...toJson(hookFields, hook), secret }) };
}
