// A client as it is shown, without its secret, and what may be said of one that nobody registered.
import { type Json, toJson } from '../field.ts';
import type { KindFault } from '../kind.ts';
import { type Client, type ClientChange, clientFields, shownAuthMethod } from './client.ts';

const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

const fieldsToJson = (client: Client): Json =>
  toJson(clientFields, { ...client, tokenEndpointAuthMethod: shownAuthMethod(client.tokenEndpointAuthMethod) });

/** A client as the Management API and `gatehouse client` show it. */
export const clientToJson = (client: Client): Json => ({
  client_id: client.clientId,
  ...fieldsToJson(client),
  origin: client.origin ?? null,
  created_by: client.createdBy ?? null,
  secret_by: client.secretBy?.actor ?? null,
  secret_at: client.secretBy === undefined ? null : isoTime(client.secretBy.atMs),
  created_at: isoTime(client.createdAtMs),
  updated_at: isoTime(client.updatedAtMs),
});

/** What an administrator says of a client that nobody registered; the rest is what it says itself. */
const strangerFields: ReadonlySet<string> = new Set([clientFields.enabled.name, clientFields.accessPolicy.name]);

/** What somebody says of a client that nobody registered and it says itself. What stays as it is may be said. */
export function strangerFault(before: Client, given: ClientChange): KindFault | undefined {
  if (before.origin === undefined) return undefined;
  const is = fieldsToJson(before);
  const isOther = (name: string): boolean =>
    !strangerFields.has(name) && JSON.stringify((given as Json)[name]) !== JSON.stringify(is[name]);
  const field = Object.keys(given).find(isOther);
  return field === undefined ? undefined : { field, is: 'sentence', text: 'Nobody registered the client: what it is, it says itself.' };
}
