// What registered things answer today, told as text: over the Management API, its description, events, documents and the console.
// test/support/kind-answers.ts compares it with test/golden/kinds/; scripts/golden/kinds.ts writes it anew.
import { readFileSync } from 'node:fs';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { createConsoleTenant, openConsole } from './console.ts';
import type { AppVisitor } from './first-party-app.ts';
import type { Json, Managed } from './management.ts';
import { machineWith } from './roles.ts';
import type { TestServer } from './server.ts';

export interface KindStory {
  readonly path: string;
  /** Of its documents; undefined: it is in none. */
  readonly section?: string;
  readonly key?: string;
  /** What it is called in the targets of events. */
  readonly noun: string;
  readonly create: Json;
  readonly change: Json;
  /** Bodies that creation refuses. */
  readonly refused: readonly Json[];
  /** Bodies that a change refuses; `change` is laid before. */
  readonly refusedChanges: readonly Json[];
  readonly search: string;
  readonly hasSecret?: true;
  /** Items a document is refused or conflicts with. */
  readonly items: readonly Json[];
}

export const goldenKindFile = (noun: string): string => new URL(`../golden/kinds/${noun}.txt`, import.meta.url).pathname;
export const readGoldenKind = (noun: string): string => readFileSync(goldenKindFile(noun), 'utf8');

/** The story of a kind, with names instead of what is another each time. */
export async function tellKind(server: TestServer, story: KindStory): Promise<string> {
  const { tenant, email } = await createConsoleTenant(server, { role: undefined, admin_roles: ['owner'] });
  const { visitor } = await openConsole(server, tenant, email);
  const told: string[] = [];
  const say = (title: string, text: string): void => void told.push(`## ${title}\n${text}\n`);
  const api = apiTeller(say);
  const first = await tellCreation(tenant, story, api);
  const id = encodeURIComponent(String(first[story.key ?? 'id']));
  await tellConsole(visitor, story, id, say);
  await tellChange(tenant, story, id, api);
  if (story.section !== undefined) await tellDocuments(server, tenant, story, say);
  await tellCapabilities(tenant, story, id, api);
  await api(tenant, 'DELETE', `${story.path}/${id}`);
  await api(tenant, 'DELETE', `${story.path}/${id}`);
  const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?limit=200');
  const own = items.filter(({ type }) =>
    new RegExp(`^${story.noun}\\.(?:created|updated|changed|deleted|secret_rotated)$`).test(String(type)),
  );
  const shown = own.map(({ id: _id, created_at: _at, request_id: _request, ...event }) => JSON.stringify(event));
  say('Events', shown.reverse().join('\n'));
  const { paths } = await tenant.make<{ paths: Readonly<Record<string, unknown>> }>('GET', '/openapi.json');
  const described = Object.entries(paths).filter(([path]) => path === story.path || path.startsWith(`${story.path}/{`));
  say('OpenAPI', described.map((one) => JSON.stringify(one)).join('\n'));
  return withNames(told.join('\n'), tenant);
}

/** Where the list has what is not of the story, in an order that is another each time. */
const listQuery = ({ noun, search }: KindStory): string => (noun === 'client' ? `?search=${search}` : '');

type Say = (title: string, text: string) => void;
type Api = (tenant: Managed, method: string, path: string, body?: unknown) => Promise<Json>;

function apiTeller(say: Say): Api {
  return async (tenant, method, path, body) => {
    const response = await tenant.call(method, path, body);
    const text = await response.text();
    say(`${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`, `${response.status} ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Json) : {};
  };
}

async function tellCreation(tenant: Managed, story: KindStory, api: Api): Promise<Json> {
  const { path, search } = story;
  for (const body of [{}, { surprise: 1 }, ...story.refused]) await api(tenant, 'POST', path, body);
  const first = await api(tenant, 'POST', path, story.create);
  if (story.noun !== 'client') await api(tenant, 'POST', path, story.create); // clients have nothing that may be taken
  for (const query of [listQuery(story), `?search=${encodeURIComponent(search)}`, '?search=nothing-of-the-kind', '?limit=0'])
    await api(tenant, 'GET', `${path}${query}`);
  return first;
}

async function tellChange(tenant: Managed, { path, change, refusedChanges, hasSecret }: KindStory, id: string, api: Api): Promise<void> {
  for (const key of [id, 'unknown', '01920000-0000-7000-8000-000000000000']) {
    await api(tenant, 'GET', `${path}/${key}`);
    await api(tenant, 'PATCH', `${path}/${key}`, change);
    if (hasSecret === true) await api(tenant, 'POST', `${path}/${key}/secret`);
  }
  for (const body of [{ surprise: 1 }, ...refusedChanges]) await api(tenant, 'PATCH', `${path}/${id}`, body);
  await api(tenant, 'PATCH', `${path}/${id}`, {});
  await api(tenant, 'GET', `${path}/${id}`);
}

async function tellCapabilities(tenant: Managed, story: KindStory, id: string, api: Api): Promise<void> {
  const { path, create, change } = story;
  for (const scopes of [['devices:read'], readersOf(path)]) {
    const weak = await machineWith(tenant, scopes);
    await api(weak, 'GET', `${path}${listQuery(story)}`);
    await api(weak, 'GET', `${path}/${id}`);
    await api(weak, 'POST', path, create);
    await api(weak, 'PATCH', `${path}/${id}`, change);
    await api(weak, 'DELETE', `${path}/${id}`);
  }
}

/** What the pages of a kind are for, and nothing that it hands out. */
const readersOf = (path: string): readonly string[] =>
  ['/roles'].includes(path)
    ? ['administrators:read', 'administrators:write']
    : path.startsWith('/organization')
      ? ['organizations:read', 'organizations:write']
      : [
          'settings:read',
          'settings:write',
          'clients:read',
          'clients:write',
          'resources:read',
          'resources:write',
          'webhooks:read',
          'webhooks:write',
          'connectors:read',
          'connectors:write',
          'service-providers:read',
          'service-providers:write',
        ];

async function tellConsole(visitor: AppVisitor, story: KindStory, id: string, say: Say): Promise<void> {
  const { path } = story;
  for (const page of [`${path}${listQuery(story)}`, `${path}/new`, `${path}/${id}`]) {
    const response = await visitor.page(page);
    const text = await response.text();
    say(`Console ${page}`, `${response.status} ${/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? ''}`);
  }
}

async function tellDocuments(server: TestServer, tenant: Managed, { section, items }: KindStory, say: Say): Promise<void> {
  const { services } = server.gatehouse;
  const open = async () => openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' });
  const exported = async (withSecrets: boolean): Promise<string> => {
    let text = '';
    for await (const part of exportDocument(await open(), { withSecrets, asJson: false })) text += part;
    const own = new RegExp(`^${section}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
    const [head, ...parts] = own.split(/^ {2}- /m);
    const sorted = parts.toSorted((one, other) => (afterFirst(one) < afterFirst(other) ? -1 : 1));
    return [head, ...(section === 'clients' ? sorted : parts)].join('  - ');
  };
  say('Export', await exported(false));
  const whole = await exported(true);
  say('Export with secrets', whole);
  const apply = async (title: string, lines: readonly string[]): Promise<void> => {
    const done = await applyDocument(services, tenant.slug, lines).then(
      ({ created, updated, unchanged, conflicts }) => JSON.stringify({ created, updated, unchanged, conflicts }),
      (error: unknown) => String(error),
    );
    say(`Apply ${title}`, done);
  };
  await apply('the same', ['gatehouse: 1', ...whole.split('\n')]);
  for (const item of items) await apply(JSON.stringify(item), ['gatehouse: 1', `${section}:`, `  - ${JSON.stringify(item)}`]);
  say('Export after', await exported(false));
}

const afterFirst = (item: string): string => item.slice(item.indexOf('\n'));

/** Ids and other random texts become numbered names; times, the tenant's name and its port go. */
function withNames(text: string, { slug, baseUrl }: Managed): string {
  const known = new Map<string, string>();
  const named = (kind: string) => (found: string) => {
    if (!known.has(found)) known.set(found, `<${kind} ${known.size + 1}>`);
    return known.get(found)!;
  };
  return text
    .replaceAll(baseUrl, '<base>')
    .replaceAll(/whsec_[A-Za-z0-9+/=]{20,}/g, named('secret'))
    .replaceAll(/\b(?!01920000)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, named('id'))
    .replaceAll(/(?<=name="csrf" value=")[^"]+/g, '<csrf>')
    .replaceAll(/\b20\d\d-\d\d-\d\dT[0-9:.]+Z/g, '<time>')
    .replaceAll(/(?<=<time datetime="<time>"[^>]*>)[^<]*/g, '<time>')
    .replaceAll(/(?<=gatehouse-domain=|<code>)(?=[A-Za-z0-9_-]*[0-9A-Z])[A-Za-z0-9_-]{20,}/g, named('text'))
    .replaceAll(/(?<=(?:client_id|client_secret|token|cursor|sha256)"?: ?"?)(?=[A-Za-z0-9_-]*[0-9A-Z])[A-Za-z0-9_-]{20,}/g, named('text'))
    .replaceAll(/(?<=\/clients\/|client:|client_id=|<code>|client_secret"?>)(?=[A-Za-z0-9_-]*[0-9A-Z])[A-Za-z0-9_-]{20,}/g, named('text'))
    .replaceAll(new RegExp(`\\b${slug}\\b`, 'g'), '<tenant>');
}
