// `gatehouse explain <request-id>`: why a request was refused, and what it did, from the audit trail of every tenant.
import type { Command } from 'commander';
import { type EventJson, explain, explainByMinute } from '../audit/explanation.ts';
import type { TryJson } from '../audit/sign-in-tries.ts';
import { catalogue } from '../contract/catalogue.ts';
import type { Row } from '../contract/row.ts';
import { listTenants } from '../storage/registry/tenants.ts';
import { CommandFailure } from './failure.ts';
import { oneLine } from './printable.ts';
import { type Administrator, addCommonOptions, administer, allPages, type Options, pageRows } from './registry/administrator.ts';
import { describeTry } from './sign-ins.ts';

/** A running server writes refusals a moment after it answered. */
const waitMs = 1500;
const lookEveryMs = 100;

export function explainCommand(program: Command): void {
  addCommonOptions(program.command('explain <request-id>').description('Show what happened under an X-Request-Id')).action(
    async (requestId: string, options: Options) => {
      await administer(options, async (administrator) => {
        const stored = await waitFor(() => search(administrator, requestId, explain));
        const found = stored.length > 0 ? stored : await search(administrator, requestId, explainByMinute);
        if (found.length === 0)
          throw new CommandFailure(
            `expected the X-Request-Id of an answer of this deployment, found nothing recorded under ${requestId}. Successful reads are not recorded, records of old days are dropped, and refusals of a flood are summed up once their minute is over: ask again then`,
          );
        print(administrator, requestId, found, stored.length === 0);
      });
    },
  );
}

interface Found {
  readonly tenant: string;
  readonly items: readonly EventJson[];
  readonly signIn: TryJson | undefined;
}

/** Every tenant in whose trail something is found. */
async function search({ database }: Administrator, requestId: string, look: typeof explain): Promise<readonly Found[]> {
  const tenants = await allPages(
    (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
    (tenant) => tenant.slug,
  );
  const found: Found[] = [];
  for (const tenant of tenants) {
    const explanation = await look({ database }, tenant.tenant_id, requestId);
    if (explanation !== undefined) found.push({ tenant: tenant.slug, items: explanation.items, signIn: explanation.sign_in });
  }
  return found;
}

async function waitFor<T>(look: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += lookEveryMs) {
    const found = await look();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return [];
}

/** Of a request that is only summed up, every tenant whose refusals it may be one of; `tenant` is null when there are several. */
function print(administrator: Administrator, requestId: string, found: readonly Found[], isSummedUp: boolean): void {
  const items = found.flatMap((one) => one.items.map((item) => ({ ...item, contract: contractOf(item) })));
  const note = isSummedUp ? ['Refusals of its minute were too many to record one by one. It may be one of these:'] : [];
  const lines = found.flatMap((one) => [
    `Request ${requestId}, tenant ${one.tenant}`,
    ...note,
    ...signInOf(one),
    ...one.items.flatMap(describe),
  ]);
  const [only] = found.length === 1 ? found : [];
  const signIn = only?.signIn === undefined ? {} : { sign_in: only.signIn };
  administrator.print({ tenant: only?.tenant ?? null, request_id: requestId, ...signIn, items }, lines);
}

const signInOf = ({ signIn }: Found): readonly string[] => (signIn === undefined ? [] : describeTry(signIn, new Map()));

function rowOf(item: EventJson): Row | undefined {
  const id = String(item['row']);
  return Object.hasOwn(catalogue, id) ? (catalogue as Readonly<Record<string, Row>>)[id] : undefined;
}

function contractOf(item: EventJson): Readonly<Record<string, unknown>> | null {
  const row = rowOf(item);
  return row === undefined ? null : { section: row.section, status: row.status, error: row.code, when: row.when };
}

function describe(item: EventJson): readonly string[] {
  const row = rowOf(item);
  const data = item['data'] as Readonly<Record<string, unknown>> | null; // a JSON object by the table's writer
  const at = row === undefined ? String(item['type']) : `refused: ${item['row']} (contract ${row.section}, ${row.status} ${row.code})`;
  const facts: readonly (readonly [string, unknown])[] = [
    ['when', row?.when],
    ['check', item['reason']],
    ['received', item['received']],
    ['expected', item['expected']],
    ['actor', item['actor']],
    ['target', item['target']],
    ...Object.entries(data ?? {}),
  ];
  const told = facts.filter(([, value]) => value !== null && value !== undefined);
  return [
    '',
    `${item['created_at']}  ${at}`,
    ...told.map(([name, value]) => `  ${name.padEnd(9)} ${oneLine(typeof value === 'object' ? JSON.stringify(value) : String(value))}`),
  ];
}
