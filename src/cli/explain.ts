// `gatehouse explain <request-id>`: why a request was refused, and what it did, from the audit trail of every tenant.
import type { Command } from 'commander';
import { type EventJson, type Explanation, explain } from '../administration/explanation.ts';
import { catalogue } from '../contract/catalogue.ts';
import type { Row } from '../contract/row.ts';
import { listTenants, type TenantTable } from '../storage/tenants.ts';
import { type Administrator, addCommonOptions, administer, allPages, type Options, pageRows } from './administrator.ts';
import { CommandFailure } from './failure.ts';

/** A running server writes refusals a moment after it answered. */
const waitMs = 1500;
const lookEveryMs = 100;

export function explainCommand(program: Command): void {
  addCommonOptions(program.command('explain <request-id>').description('Show what happened under an X-Request-Id')).action(
    async (requestId: string, options: Options) => {
      await administer(options, async (administrator) => {
        const found = await search(administrator, requestId);
        if (found === undefined) {
          throw new CommandFailure(
            `expected the X-Request-Id of an answer of this deployment, found nothing recorded under ${requestId}. Successful reads are not recorded; records of floods and of old days are dropped`,
          );
        }
        const { tenant, explanation } = found;
        const items = explanation.items.map((item) => ({ ...item, contract: contractOf(item) }));
        administrator.print({ tenant: tenant.slug, request_id: requestId, items }, [
          `Request ${requestId}, tenant ${tenant.slug}`,
          ...explanation.items.flatMap(describe),
        ]);
      });
    },
  );
}

async function search(
  { database }: Administrator,
  requestId: string,
): Promise<{ readonly tenant: TenantTable; readonly explanation: Explanation } | undefined> {
  for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += lookEveryMs) {
    const tenants = await allPages(
      (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
      (tenant) => tenant.slug,
    );
    for (const tenant of tenants) {
      const explanation = await explain({ database }, tenant.tenant_id, requestId);
      if (explanation !== undefined) return { tenant, explanation };
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return undefined;
}

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
    ...told.map(([name, value]) => `  ${name.padEnd(9)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`),
  ];
}
