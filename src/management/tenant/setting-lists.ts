// `/settings/lists`: takes words out of lists of the settings and puts others in, in one change. A PATCH writes a list whole, so that of two
// who read it and each added a word, one would lose it.
import Type from 'typebox';
import { changeOf, closed, propertiesOf } from '../../administration/schema-pieces.ts';
import { changeSettings, shownSettings } from '../../administration/settings.ts';
import { isField, type Json, neededFor, type Table } from '../../domain/field.ts';
import { settingFields } from '../../domain/tenant/settings.ts';
import { byOf, type Call, type Endpoint, endpoint, invalidField, notFound, requireCapabilities } from '../endpoint.ts';
import { checkBody } from '../validation.ts';

/** The settings that are lists. */
const lists = listsOf(settingFields);
const change = changeOf(propertiesOf(lists));

interface Body {
  readonly add?: Json | undefined;
  readonly remove?: Json | undefined;
}

export const settingListEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/settings/lists',
    capability: 'sign-in:write',
    orCapability: 'settings:write',
    summary:
      'Take words out of lists of the settings, then add others at their ends, in one change; each list needs the capability that it names',
    body: closed({ add: Type.Optional(change), remove: Type.Optional(change) }),
    answer: Type.Object({}, { description: 'Every setting, as `PATCH /settings` answers.' }),
    status: 200,
    handle: changeLists,
  }),
];

async function changeLists(call: Call<undefined, Body>): Promise<unknown> {
  const { services, tenant, body, scopes } = call;
  const { add = {}, remove = {} } = body;
  requireCapabilities([...neededFor(lists, add), ...neededFor(lists, remove)], scopes);
  const wanted = async (before: unknown): Promise<Json> => {
    const after = listsAfter(lists, before as Json, { add, remove });
    const fault = await checkBody(change, after); // together they may be too many, or none
    if (fault !== undefined) throw fault;
    return after;
  };
  const changed = await changeSettings(services, tenant, wanted, byOf(call));
  if (changed.ok) return shownSettings(changed.settings);
  if (changed.reason === 'unknown') throw notFound('unknown_tenant');
  throw invalidField(changed.fault.field, `This field ${changed.fault.text}.`);
}

/** The lists that are named, as they become. */
function listsAfter(table: Table, before: Json, { add, remove }: Readonly<Record<'add' | 'remove', Json>>): Json {
  const named = Object.entries(table).filter(([key, one]) =>
    [add, remove].some((given) => given[isField(one) ? one.name : key] !== undefined),
  );
  return Object.fromEntries(
    named.map(([key, one]) => {
      if (!isField(one)) {
        const within = (given: Json): Json => (given[key] ?? {}) as Json; // of the table
        return [key, listsAfter(one, within(before), { add: within(add), remove: within(remove) })];
      }
      const [stood, added, gone] = [before, add, remove].map((given) => (given[one.name] ?? []) as readonly string[]); // of the table
      return [one.name, [...new Set([...stood!.filter((word) => !gone!.includes(word)), ...added!])]];
    }),
  );
}

function listsOf(table: Table): Table {
  const kept = Object.entries(table).flatMap(([key, one]): readonly (readonly [string, Table[string]])[] => {
    if (isField(one)) return one.kind.shape['type'] === 'array' ? [[key, one]] : [];
    const within = listsOf(one);
    return Object.keys(within).length === 0 ? [] : [[key, within]];
  });
  return Object.fromEntries(kept);
}
