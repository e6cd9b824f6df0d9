// JSON Schema of an event as the feed and webhooks give it, from the table of types. Types and fields are only added, so what is not
// listed passes.
import { type EventRow, eventTypes } from './events.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const word = { type: ['string', 'null'] };
const kinds: Readonly<Record<EventRow['data'][string], JsonSchema>> = {
  text: word,
  number: { type: 'number' },
  flag: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string' } },
  object: { type: 'object' },
};

/** What `data.details` of a type may hold. */
const detailsOf = ({ data }: EventRow): JsonSchema => ({
  type: ['object', 'null'],
  properties: Object.fromEntries(Object.entries(data).map(([name, kind]) => [name, kinds[kind]])),
});

export const eventSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Gatehouse event',
  type: 'object',
  required: ['seq', 'type', 'timestamp', 'data'],
  properties: {
    seq: { type: 'integer', minimum: 1, description: 'Its place in the feed of its tenant' },
    id: { type: 'string', description: 'In a webhook the header webhook-id' },
    type: { type: 'string' },
    timestamp: { type: 'string', format: 'date-time' },
    data: {
      type: 'object',
      properties: { request_id: word, actor: word, target: word, row: word, reason: word, received: word, expected: word },
    },
  },
  anyOf: [
    { properties: { type: { not: { enum: Object.keys(eventTypes) } } } },
    ...Object.entries<EventRow>(eventTypes).map(([type, row]) => ({
      description: row.when,
      properties: { type: { const: type }, data: { properties: { details: detailsOf(row) } } },
    })),
  ],
};
