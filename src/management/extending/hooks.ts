// `/hooks/{id}/test`: what a hook answers, and nothing follows. The rest of `/hooks` is that of its kind.
import Type from 'typebox';
import { registered } from '../../administration/registered.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { loadThing } from '../kind-endpoints.ts';
import { nullable } from '../schemas.ts';

export const hookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/hooks/:id/test',
    capability: 'sign-in:write',
    summary: 'Call a hook with `hook.test` and show what it answers; nothing follows from it',
    answer: Type.Object({
      result: Type.String({ enum: ['silent', 'claims', 'denied', 'failed'] }),
      reason: nullable(Type.String({ description: 'of a denial, or what was wrong' })),
      claims: nullable(Type.Object({}, { additionalProperties: true })),
      milliseconds: Type.Integer(),
    }),
    status: 200,
    handle: async (call) => {
      const { services, tenant, requestId } = call;
      const hook = await loadThing(registered.hook, call);
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
];
