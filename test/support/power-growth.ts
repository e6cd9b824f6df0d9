// Somebody tries every write of a tenant; what they have afterwards that they had not before.
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { type Actor, isAdmitted, type Tried, tryWrite, type Write } from './power-actor.ts';
import {
  gainsOfAnswers,
  gainsOfChanges,
  gainsOfKept,
  gainsOfMails,
  gainsOfSecrets,
  keptOf,
  type Snapshot,
  snapshotOf,
} from './power-gains.ts';
import type { PowerWorld } from './power-world.ts';
import type { TestServer } from './server.ts';

/** What is managed in a tenant; tenants are in the root tenant, by people. */
export const ofTenant = capabilities.filter((one) => !one.startsWith('tenants:'));
export const isOfTenant = ({ judged: { needs } }: Write): boolean => needs.every((one) => ofTenant.includes(one));

export interface Growth {
  /** Empty where nobody grew. */
  readonly gains: readonly string[];
  /** Names of the writes that were done. */
  readonly done: readonly string[];
}

/** Worlds in which nothing was done yet, as they are. */
const untouched = new WeakMap<PowerWorld, Snapshot>();

/** `swept`: every write, with each property of its body by itself; otherwise those by which somebody could grow, with the bodies of the table. */
export async function grow(
  server: TestServer,
  world: PowerWorld,
  actor: Actor,
  writes: readonly Write[],
  how: 'swept' | 'table',
): Promise<Growth> {
  const snapshot = untouched.get(world) ?? (await snapshotOf(world));
  const kept = await keptOf(server, world);
  const tried: Tried[] = [];
  const gains: string[] = [];
  const tryAll = async (some: readonly Write[]): Promise<void> => {
    for (const write of some) tried.push(...(await tryWrite(world, actor, write, how === 'swept' && isAdmitted(write, actor))));
    if (tried.some(({ status }) => status < 300))
      gains.push(...(await gainsOfKept(server, world, kept)), ...(await gainsOfMails(server, world, actor)));
  };
  const own = writes.filter((one) => isOfTenant(one) && (how === 'swept' || one.judged.way !== 'nothing'));
  await tryAll(own.filter(({ method }) => method !== 'DELETE'));
  await tryAll(own.filter(({ method }) => method === 'DELETE'));
  const done = [...new Set(tried.filter(({ status }) => status < 300).map(({ write }) => write))];
  for (const write of done)
    if (!isAdmitted(write, actor)) gains.push(`${write.name} takes ${write.judged.needs.join(', ')} and is done without`);
  gains.push(...gainsOfAnswers(world, actor, tried), ...(await gainsOfSecrets(world, actor, tried)));
  if (done.length === 0) untouched.set(world, snapshot);
  else {
    untouched.delete(world);
    gains.push(...(await gainsOfChanges(world, actor, snapshot)));
  }
  return { gains: [...new Set(gains)], done: done.filter((write) => isAdmitted(write, actor)).map(({ name }) => name) };
}
