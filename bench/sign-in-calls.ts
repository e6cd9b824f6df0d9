// What a whole sign-in asks of the database and how often it signs: counted, not timed, over some sign-ins of a server of its own.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, startGatehouse } from './process.ts';
import { createParty, createUser, signIn } from './sign-in.ts';
import type { Figure } from './table.ts';
import { createTenant } from './tenant.ts';

const people = 30;
const emailOf = (index: number): string => `person-${index}@bench.example`;

interface Calls {
  readonly statements: number;
  readonly signatures: number;
}

/** Figures without a bar; jobs of the server are in them, a statement or two. The reading of the outbox, which no deployment does, is too. */
export async function callsOfSignIn(): Promise<readonly Figure[]> {
  const [without, withThem] = [await callsOf(0), await callsOf(people)];
  const each = (name: keyof Calls): number => (withThem[name] - without[name]) / people;
  return [
    { id: 'P3', what: 'a whole sign-in asks of the database', value: each('statements'), unit: 'statements' },
    { id: 'P3', what: 'a whole sign-in makes', value: each('signatures'), unit: 'signatures' },
  ];
}

/** Of a server with so many people, of whom some sign in, from its start to its end. */
async function callsOf(signIns: number): Promise<Calls> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const noted = join(folder, 'calls.txt');
  try {
    const hook = pathToFileURL(join(root, 'bench', 'note-calls.mjs')).href;
    const gatehouse = await startGatehouse(folder, { NODE_OPTIONS: `--import=${hook}`, NOTED_CALLS: noted });
    const party = await createParty(await createTenant(gatehouse));
    for (let index = 0; index < people; index += 1) await createUser(party.tenant, emailOf(index));
    for (let index = 0; index < signIns; index += 1) await signIn(gatehouse, party, emailOf(index));
    await gatehouse.stop();
    const threads = readFileSync(noted, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Calls); // note-calls.mjs
    const sum = (name: keyof Calls): number => threads.reduce((all, each) => all + each[name], 0);
    return { statements: sum('statements'), signatures: sum('signatures') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
