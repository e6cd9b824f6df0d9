// `/sign-ins`: tries to sign in, newest first, each with its reason in words: why somebody could not.
import Type from 'typebox';
import { triesToJson } from '../../audit/sign-in-tries.ts';
import { identifierCharsMax, requestIdCharsMax, textCharsMax } from '../../contract/limits.ts';
import { tryChecks, tryTypes } from '../../domain/sign-in/sign-in-try.ts';
import { addressBlock } from '../../http/client-address.ts';
import { findUserByIdentifier } from '../../storage/people/users.ts';
import { listEventNames } from '../../storage/records/event-names.ts';
import { listTries } from '../../storage/sign-in/sign-in-tries.ts';
import { type Endpoint, endpoint, invalidField } from '../endpoint.ts';
import { listOf, pageOf, timeOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';

const word = nullable(Type.String());
const type = oneOf(tryTypes);
const check = nullable(oneOf(tryChecks));
const line = Type.Object({ at: dateTime, type, check, detail: word, says: Type.String(), request_id: word });
export const signInAnswer = Type.Object({
  id: Type.String(),
  started_at: dateTime,
  updated_at: dateTime,
  user: word,
  typed: word,
  application: Type.String(),
  ip: word,
  user_agent: word,
  type,
  check,
  says: Type.String(),
  advice: word,
  request_id: word,
  lines: Type.Array(line),
});
const filter = Type.Optional(Type.String({ minLength: 1, maxLength: textCharsMax }));
const time = Type.Optional(Type.String({ minLength: 1, maxLength: 40 }));

export const signInEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sign-ins',
    capability: 'events:read',
    summary:
      'List tries to sign in, newest first, each with the check that failed and what to do. `name` finds what was typed where nobody has it (kept 24 hours), and with `users:read` whose user name or email it is; `user` is an id, and beside `name` those of either are found; `application` is `client:<id>` or `service_provider:<id>`, `organization` the id of the one they were for, `id` that of a request or a sign-in; `from` is inclusive, `to` exclusive',
    query: closed({
      ...pageQuery.properties,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: identifierCharsMax })),
      user: filter,
      application: filter,
      organization: filter,
      ip: filter,
      id: Type.Optional(Type.String({ minLength: 1, maxLength: requestIdCharsMax })),
      from: time,
      to: time,
      names: Type.Optional(oneOf(['shown'])),
    }),
    answer: Type.Object({
      ...listAnswer(signInAnswer).properties,
      names: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    status: 200,
    handle: async ({ services, tenant, query, scopes }) => {
      const page = pageOf(query);
      const { name, user, application, organization, ip, id } = query;
      const before = page.after === '' ? undefined : placeOf(page.after);
      const times = { fromMs: timeOf('from', query.from), toMs: timeOf('to', query.to) };
      return services.database.read(tenant.id, async (queries) => {
        // Whose name it is is told to whoever may read people.
        const owner =
          name !== undefined && scopes.includes('users:read') ? await findUserByIdentifier(queries, tenant.id, name) : undefined;
        const wanted = {
          ...times,
          userId: user ?? owner?.id,
          typed: name,
          application,
          organization,
          ip: ip === undefined ? undefined : { address: ip, block: addressBlock(ip) },
          id,
          before,
          limit: page.limit + 1,
        };
        const tries = await listTries(queries, tenant.id, wanted);
        const shown = await triesToJson(queries, tenant.id, tries.slice(0, page.limit));
        const answer = {
          ...listOf(
            page,
            tries,
            (one) => `${one.started_at} ${one.id}`,
            () => ({}),
          ),
          items: shown,
        };
        if (query.names === undefined) return answer;
        const ids = tries.flatMap((one) => [`user:${one.user_id}`, one.application]);
        return { ...answer, names: Object.fromEntries(await listEventNames(queries, tenant.id, ids, scopes)) };
      });
    },
  }),
];

/** Where the page before ended. */
function placeOf(cursor: string): { readonly startedAt: number; readonly id: string } {
  const at = cursor.indexOf(' ');
  const startedAt = Number(cursor.slice(0, at));
  if (at <= 0 || !Number.isSafeInteger(startedAt)) throw invalidField('cursor', 'This parameter is not a cursor of this list.');
  return { startedAt, id: cursor.slice(at + 1) };
}
