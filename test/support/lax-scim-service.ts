// A SCIM service that takes an account or a group as often as it is sent: whoever makes one twice is seen. It keeps what is asked, in order,
// and tells of each change once it is kept and before it is answered.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './management.ts';

type Kind = 'Users' | 'Groups';

export interface LaxScimService {
  readonly url: string;
  readonly users: ReadonlyMap<string, Json>;
  readonly groups: ReadonlyMap<string, Json>;
  /** `METHOD /path` without queries; reads of what it can do aside. */
  readonly asked: string[];
  /** While this is not done a change that was kept is not answered. */
  onKept: (request: string) => void | Promise<void>;
  readonly close: () => Promise<void>;
}

interface Change {
  readonly op: string;
  readonly path?: string;
  readonly value?: unknown;
}

const member = /^members\[value eq "(.+)"\]$/;

export async function startLaxScimService(): Promise<LaxScimService> {
  const kept: Readonly<Record<Kind, Map<string, Json>>> = { Users: new Map(), Groups: new Map() };
  const asked: string[] = [];
  let made = 0;
  const answer = (method: string, url: URL, body: Json): readonly [number, Json] => {
    const [, kind, id = ''] = url.pathname.split('/');
    if (kind === 'ServiceProviderConfig') return [200, { patch: { supported: true } }];
    const all = kept[kind as Kind]; // nothing else is asked
    if (method === 'POST') {
      made += 1;
      all.set(`r${made}`, body);
      return [201, { ...body, id: `r${made}` }];
    }
    if (id === '') return [200, listOf(all, url.searchParams)];
    const before = all.get(id);
    if (before === undefined) return [404, {}];
    if (method === 'PATCH') all.set(id, patched(before, body['Operations'] as readonly Change[]));
    return [200, { ...all.get(id), id }];
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = 'GET' } = request;
    const url = new URL(request.url ?? '/', 'http://lax.example');
    const [status, json] = answer(method, url, text === '' ? {} : JSON.parse(text));
    const said = `${method} ${url.pathname}`;
    if (url.pathname !== '/ServiceProviderConfig') asked.push(said);
    if (method !== 'GET') await service.onKept(said);
    response.writeHead(status, { 'content-type': 'application/scim+json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const service: LaxScimService = {
    url: `http://127.0.0.1:${port}`,
    users: kept.Users,
    groups: kept.Groups,
    asked,
    onKept: () => undefined,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}

/** Filters by what connectors ask: an attribute that equals a text. */
function listOf(all: ReadonlyMap<string, Json>, query: URLSearchParams): Json {
  const [, attribute = '', value] = /^(\w+) eq (".*")$/.exec(query.get('filter') ?? '') ?? [];
  const found = [...all].filter(([, one]) => value === undefined || one[attribute] === JSON.parse(value));
  const start = Number(query.get('startIndex') ?? 1) - 1;
  const page = found.slice(start, start + Number(query.get('count') ?? 100));
  return { totalResults: found.length, Resources: page.map(([id, one]) => ({ ...one, id })) };
}

function patched(before: Json, changes: readonly Change[]): Json {
  let one = before;
  for (const { op, path = '', value } of changes) {
    const members = (one['members'] ?? []) as readonly Json[];
    const [, gone] = member.exec(path) ?? [];
    if (path === 'members') one = { ...one, members: members.concat(value as readonly Json[]) };
    else if (gone !== undefined) one = { ...one, members: members.filter((other) => other['value'] !== gone) };
    else if (op === 'remove') one = Object.fromEntries(Object.entries(one).filter(([name]) => name !== path));
    else one = { ...one, ...(value as Json) };
  }
  return one;
}
