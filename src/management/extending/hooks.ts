// `/hooks`: who is asked before tokens are issued and sign-ins end (design 16, 3). The fields are in domain/extending/hook.ts.
import Type from 'typebox';
import { changeHook, createHook, findHook, removeHook, rotateHookSecret } from '../../administration/hooks.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { type Hook, type HookChange, hookFields } from '../../domain/extending/hook.ts';
import { type FieldFault, takenAt, toJson } from '../../domain/field.ts';
import { listHooks } from '../../storage/registry/hooks.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';

const hookAnswer = { id: Type.String(), ...propertiesOf(hookFields), created_at: dateTime, updated_at: dateTime };
const secretAnswer = { secret: Type.String({ description: 'Standard Webhooks; shown once' }) };

const unknownHook = (): Error => notFound('unknown_hook');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);

export const hookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/hooks',
    capability: 'settings:write',
    summary: 'Register a hook; a point has one. Its secret is shown once',
    body: creationOf(takenAt(hookFields, 'create')),
    answer: Type.Object({ ...hookAnswer, ...secretAnswer }),
    status: 201,
    handle: async ({ services, tenant, body, actor, requestId }) => {
      const created = await createHook(services, tenant.id, body as HookChange, { actor, requestId }); // checked by the schema of the same fields
      if (created.ok) return { ...hookToJson(created.hook), secret: created.secret };
      throw created.reason === 'invalid' ? invalid(created.fault) : conflict('point', 'The point has a hook.');
    },
  }),
  endpoint({
    method: 'GET',
    path: '/hooks',
    capability: 'settings:read',
    summary: 'List hooks, oldest first; `search` is a part of an address',
    query: searchQuery,
    answer: listAnswer(Type.Object(hookAnswer)),
    status: 200,
    handle: (call) =>
      answerSearched(
        call,
        async (queries, tenant, { after, limit }) => (await listHooks(queries, tenant)).filter(({ id }) => id > after).slice(0, limit),
        { key: ({ id }) => id, texts: ({ url, point }) => [url, point], json: hookToJson },
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/hooks/:id',
    capability: 'settings:read',
    summary: 'Read a hook',
    answer: Type.Object(hookAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const hook = await services.database.read(tenant.id, (queries) => findHook(queries, tenant.id, params['id']!));
      if (hook === undefined) throw unknownHook();
      return hookToJson(hook);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/hooks/:id',
    capability: 'settings:write',
    summary: 'Change a hook',
    body: changeOf(propertiesOf(takenAt(hookFields, 'change'))),
    answer: Type.Object(hookAnswer),
    status: 200,
    handle: async ({ services, tenant, params, body, actor, requestId }) => {
      const changed = await changeHook(services, tenant.id, params['id']!, body as HookChange, { actor, requestId }); // checked by the schema of the same fields
      if (!changed.ok) throw changed.reason === 'invalid' ? invalid(changed.fault) : unknownHook();
      return hookToJson(changed.hook);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/hooks/:id/secret',
    capability: 'settings:write',
    summary: 'Make a new secret, shown once; the one before signs too for 24 hours',
    answer: Type.Object(secretAnswer),
    status: 201,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const secret = await rotateHookSecret(services, tenant.id, params['id']!, { actor, requestId });
      if (secret === undefined) throw unknownHook();
      return { secret };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/hooks/:id/test',
    capability: 'settings:write',
    summary: 'Call a hook with `hook.test` and show what it answers; nothing follows from it',
    answer: Type.Object({
      result: Type.String({ enum: ['silent', 'claims', 'denied', 'failed'] }),
      reason: nullable(Type.String({ description: 'of a denial, or what was wrong' })),
      claims: nullable(Type.Object({}, { additionalProperties: true })),
      milliseconds: Type.Integer(),
    }),
    status: 200,
    handle: async ({ services, tenant, params, requestId }) => {
      const hook = await services.database.read(tenant.id, (queries) => findHook(queries, tenant.id, params['id']!));
      if (hook === undefined) throw unknownHook();
      const data = { point: hook.point, client: null, user: null, scopes: [], session: null };
      const { milliseconds, ...tried } = await services.hooks.try({ tenant: tenant.id, hook, requestId, data, target: `hook:${hook.id}` });
      const base = { reason: null, claims: null, milliseconds };
      if (!tried.ok) return { ...base, result: 'failed', reason: tried.reason };
      if (tried.answer === undefined) return { ...base, result: 'silent' };
      return 'deny' in tried.answer
        ? { ...base, result: 'denied', reason: tried.answer.deny.reason }
        : { ...base, result: 'claims', claims: tried.answer.claims };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/hooks/:id',
    capability: 'settings:write',
    summary: 'Delete a hook: from now on nobody is asked',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const isDone = await services.cache.write(tenant.id, (queries) =>
        removeHook(queries, services, tenant.id, params['id']!, { actor, requestId }),
      );
      if (!isDone) throw unknownHook();
    },
  }),
];

const hookToJson = (hook: Hook): Json => ({
  id: hook.id,
  ...toJson(hookFields, hook),
  created_at: isoTime(hook.createdAtMs),
  updated_at: isoTime(hook.updatedAtMs),
});
