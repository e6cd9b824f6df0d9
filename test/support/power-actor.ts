// Somebody who holds some capabilities and tries every write of the Management API on a world of people and things that are not theirs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleOf } from '../../scripts/api-examples.ts';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { callJson, type Json, type Managed } from './management.ts';
import { pngOf } from './pictures.ts';
import { bodiesOf } from './power-bodies.ts';
import { type Judged, judged } from './power-table.ts';
import type { PowerWorld } from './power-world.ts';
import { machineWith } from './roles.ts';

export interface Write {
  /** `POST /clients`, as the table and the examples name it. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly schema: unknown;
  readonly judged: Judged;
}

export interface Tried {
  readonly write: Write;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly text: string;
}

export interface Actor {
  readonly holds: ReadonlySet<string>;
  readonly caller: Managed;
}

type Operations = Readonly<
  Record<string, { readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> } }>
>;

/** Every write that the tenant's own OpenAPI document names: what makes and changes first, what deletes last. */
export async function writesOf(
  tenant: Pick<Managed, 'managementApi'>,
): Promise<{ readonly writes: readonly Write[]; readonly unjudged: readonly string[] }> {
  const document = (await (await fetch(`${tenant.managementApi}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Operations>>;
  };
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      schema: operation.requestBody?.content?.['application/json']?.schema,
    })),
  );
  const found = all.filter(({ method }) => method !== 'GET');
  const writes = found.flatMap((write) => {
    const row = judged[write.name];
    return row === undefined ? [] : [{ ...write, judged: row }];
  });
  return {
    writes: writes.toSorted((one, other) => orderOf(one) - orderOf(other)),
    unjudged: found.map(({ name }) => name).filter((name) => judged[name] === undefined),
  };
}

/** What deletes comes last, and of that what hangs on something before the thing itself. */
const orderOf = ({ method, path }: Pick<Write, 'method' | 'path'>): number => (method === 'DELETE' ? -path.length : -1000);

export async function actorWith(tenant: Managed, holds: readonly Capability[]): Promise<Actor> {
  return { holds: new Set(holds), caller: await machineWith(tenant, holds) };
}

/** Whether somebody who holds these comes as far as the body the judgement is about. */
export const isAdmitted = ({ judged: { needs, or } }: Pick<Write, 'judged'>, { holds }: Pick<Actor, 'holds'>): boolean =>
  needs.every((need) => holds.has(need)) || (or !== undefined && holds.has(or));

/** Tries a write on everything it may be about. `swept`: with each property of its body by itself as well. */
export async function tryWrite(world: PowerWorld, actor: Actor, write: Write, swept: boolean): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const path of pathsOf(world, write.path))
    for (const [index, body] of bodiesFor(world, write, swept).entries()) {
      const response = await send(actor, write, path, body);
      tried.push({ write, path, body, status: response.status, text: await response.text() });
      // What is refused for this very thing is refused for the others of its bodies; settings ask field by field.
      if (response.status === 403 && index === 0 && write.judged.or === undefined) break;
    }
  return tried;
}

function bodiesFor(
  world: PowerWorld,
  { name, method, schema, judged: { bodies, bytes } }: Write,
  swept: boolean,
): readonly (Json | undefined)[] {
  if (bytes !== undefined) return [undefined];
  const own = bodies?.(world) ?? [];
  const first = own[0] ?? exampleOf(name, false).body;
  const others = swept ? bodiesOf(schema, method === 'PATCH' ? {} : first) : [];
  return [first, ...others, ...own.slice(1)];
}

const picture = new Uint8Array(pngOf(5, 5));
const metadata = readFileSync(join(import.meta.dirname, '../docs/api-examples/metadata.xml'));

function send({ caller }: Actor, { method, judged: { bytes } }: Write, path: string, body: unknown): Promise<Response> {
  const url = caller.managementApi + path;
  if (bytes === undefined) return callJson(url, caller.token, method, body);
  const type = bytes === 'picture' ? 'image/png' : 'application/samlmetadata+xml';
  const headers = { authorization: `Bearer ${caller.token}`, 'content-type': type };
  return fetch(url, { method, headers, body: bytes === 'picture' ? picture : metadata });
}

/** A path with each of the things that its parameters may name; one that nobody has where the world has none. */
function pathsOf({ targets }: Pick<PowerWorld, 'targets'>, path: string): readonly string[] {
  const start = path.indexOf('{');
  if (start < 0) return [path];
  const before = path.slice(0, start);
  const found = targets[before] ?? targets[`/${before.split('/').at(-2)}/`] ?? ['01920000-0000-7000-8000-000000000000'];
  return found.flatMap((value) => pathsOf({ targets }, before + value + path.slice(path.indexOf('}') + 1)));
}
