// `/client-hosts`: the programs nobody registered by the hosts they are known by, so that an administrator sees at a glance who came, who lets
// them act for them, and whether they still come.
import Type from 'typebox';
import { grantsCountedMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { hostOfStranger, type Origin, standingOf, standings } from '../../domain/client/stranger.ts';
import type { ClientId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { countPeopleOf } from '../../storage/oidc/grants.ts';
import { listStrangers } from '../../storage/registry/clients/clients.ts';
import { listLastSignIns } from '../../storage/registry/last-sign-ins.ts';
import { type Call, type Endpoint, endpoint, isoTime, type Json } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';
import { signedIn } from '../sign-in/last-sign-in.ts';

const origins = ['document', 'open'] as const;
const hostAnswer = Type.Object({
  host: nullable(
    Type.String({
      description: 'of the documents, or where answers go of those that registered without a token; null: a program on somebody’s computer',
    }),
  ),
  origin: oneOf(origins),
  standing: oneOf(standings),
  clients: Type.Integer(),
  people: Type.Integer({ description: 'who have tokens of one of them, or can get them' }),
  has_more_people: Type.Optional(
    Type.Literal(true, { description: `there are more than ${grantsCountedMax} grants; \`people\` are those of so many` }),
  ),
  ...signedIn,
});

/** Clients that one host is known for. */
interface Host {
  readonly key: string;
  readonly host: string | undefined;
  readonly origin: Origin;
  readonly clients: ClientId[];
}

export const clientHostEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/client-hosts',
    capability: 'clients:read',
    summary: 'List the hosts of clients that nobody registered; `standing` is what `client_hosts` of the settings says of each',
    query: pageQuery,
    answer: listAnswer(hostAnswer),
    status: 200,
    isLong: true,
    handle: async (call) => {
      const { services, tenant, query } = call;
      const page = pageOf(query);
      const hosts = (await hostsOf(call)).filter(({ key }) => key > page.after).slice(0, page.limit + 1);
      const shown: (readonly [Host, Json])[] = [];
      for (const host of hosts) {
        shown.push([host, await services.database.read(tenant.id, (queries) => hostToJson(call, queries, host))]);
        await call.pace();
      }
      return listOf(
        page,
        shown,
        ([{ key }]) => key,
        ([, json]) => json,
      );
    },
  }),
];

const clientsAtOnce = 1000;

/** All of them, in their order. */
async function hostsOf({ services, tenant, pace }: Call<unknown, unknown>): Promise<readonly Host[]> {
  const found = new Map<string, Host>();
  const add = (client: Client, origin: Origin): void => {
    const host = hostOfStranger(client);
    const key = `${host ?? ''} ${origin}`;
    const one = found.get(key) ?? { key, host, origin, clients: [] };
    one.clients.push(client.clientId);
    found.set(key, one);
  };
  for (const origin of origins)
    for (let after = '', isMore = true; isMore; ) {
      const page = { after, limit: clientsAtOnce };
      const clients = await services.database.read(tenant.id, (queries) => listStrangers(queries, tenant.id, origin, page));
      for (const client of clients) add(client, origin);
      after = clients.at(-1)?.clientId ?? '';
      isMore = clients.length === clientsAtOnce;
      await pace();
    }
  return [...found.values()].sort((left, right) => (left.key < right.key ? -1 : 1));
}

async function hostToJson({ services, tenant }: Call<unknown, unknown>, queries: Queries, { host, origin, clients }: Host): Promise<Json> {
  const { dialect } = services.database;
  const { people, isMore } = await countPeopleOf(queries, dialect, tenant.id, clients);
  const times = await listLastSignIns(queries, dialect, tenant.id, { kind: 'client', ids: clients });
  let lastMs = 0;
  for (const ms of times.values()) lastMs = Math.max(lastMs, ms);
  return {
    host: host ?? null,
    origin,
    standing: standingOf({ host, origin }, tenant.settings.client_hosts),
    clients: clients.length,
    people,
    ...(isMore && { has_more_people: true }),
    ...(lastMs > 0 && { last_sign_in_at: isoTime(lastMs) }),
  };
}
