// The catalogue of events: what is not listed does not compile, and its JSON Schema takes what is written and refuses what is not so.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Compile } from 'typebox/schema';
import { eventSchema } from '../../src/contract/event-schema.ts';
import { type EventRow, eventTypes, type TypedEvent } from '../../src/contract/events.ts';

const values = { text: 'a', number: 1, flag: true, list: ['a'], object: { at: 'a' } } as const;
const wrong = { text: 1, number: 'a', flag: 'a', list: 'a', object: 'a' } as const;

describe('contract/events.ts', () => {
  const schema = Compile(eventSchema);
  const eventOf = (type: string, details: unknown): object => ({ seq: 1, type, timestamp: '2026-01-31T12:00:00.000Z', data: { details } });
  const rows = Object.entries<EventRow>(eventTypes);

  it('an unlisted type and an unlisted detail do not compile', () => {
    const events: readonly TypedEvent[] = [
      { type: 'user.created', data: { role: 'user' } },
      // @ts-expect-error there is no such type
      { type: 'user.forgotten' },
      // @ts-expect-error this type has no such detail
      { type: 'user.created', data: { shoe_size: 44 } },
      // @ts-expect-error a number is no text
      { type: 'user.created', data: { role: 1 } },
    ];
    assert.equal(events.length, 4);
  });

  it('the JSON Schema takes each type with its details and refuses a detail of another kind', () => {
    assert.ok(rows.length > 100);
    for (const [type, { data }] of rows) {
      const details = Object.fromEntries(Object.entries(data).map(([name, kind]) => [name, values[kind]]));
      assert.ok(schema.Check(eventOf(type, details)), type);
      assert.ok(schema.Check(eventOf(type, null)), type);
      for (const [name, kind] of Object.entries(data))
        assert.ok(!schema.Check(eventOf(type, { ...details, [name]: wrong[kind] })), `${type} ${name}`);
    }
    assert.ok(schema.Check(eventOf('user.of_a_later_release', { anything: 1 })), 'types are added');
    assert.ok(schema.Check(eventOf('user.created', { role: 'user', of_a_later_release: 1 })), 'details are added');
    assert.ok(!schema.Check({ type: 'user.created', timestamp: 'x', data: {} }), 'seq is there');
  });

  it('types are words with dots, in order, and say when and since', () => {
    const types = rows.map(([type]) => type);
    assert.deepEqual(types, types.toSorted());
    for (const [type, { when, since }] of rows) {
      assert.match(type, /^[a-z][a-z_]*(\.[a-z_]+)?$/);
      assert.match(when, /^[A-Z].*\.$/, type);
      assert.match(since, /^(\d+\.\d+\.\d+|Unreleased)$/, type);
    }
  });
});
