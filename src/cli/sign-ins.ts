// `gatehouse sign-ins`: why somebody could not sign in: the tries of a tenant, newest first, each with the check that failed and what to do.
import type { Command } from 'commander';
import { type TryJson, triesToJson } from '../audit/sign-in-tries.ts';
import { listLimitMax } from '../contract/limits.ts';
import { capabilities } from '../domain/people/capabilities.ts';
import { addressBlock } from '../http/client-address.ts';
import { findUserByIdentifier } from '../storage/people/users.ts';
import { listEventNames } from '../storage/records/event-names.ts';
import { listTries } from '../storage/sign-in/sign-in-tries.ts';
import { usage } from './failure.ts';
import { periodMs } from './period.ts';
import { oneLine } from './printable.ts';
import { addCommonOptions, addTenantOption, administer, loadTenant, type Options } from './registry/administrator.ts';

const shownDefault = 20;

export function signInsCommand(program: Command): void {
  const command = addTenantOption(program.command('sign-ins').description('Print tries to sign in, newest first, and why they failed'))
    .option('--name <name>', 'of the person with this user name or email, and what was typed where nobody has it')
    .option('--application <application>', 'at one application: client:<id> or service_provider:<id>')
    .option('--ip <address>', 'from one address')
    .option('--id <id>', 'the one of a request id, or of a sign-in')
    .option('--since <time>', 'of the last time, e.g. 30m, 1h, 7d')
    .option('--limit <count>', 'at most so many', String(shownDefault));
  addCommonOptions(command).action(print);
}

async function print(options: Options): Promise<void> {
  const text = (name: string): string | undefined => (options[name] === undefined ? undefined : String(options[name]));
  const limit = Number(options['limit']);
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax)
    throw usage(`--limit: expected a number from 1 to ${listLimitMax}, found ${text('limit')}`);
  const [name, ip, since] = [text('name'), text('ip'), text('since')];
  const sinceMs = since === undefined ? undefined : periodMs('--since', since);
  await administer(options, async (administrator) => {
    const { database, clock } = administrator;
    const { id: tenant } = await loadTenant(administrator, options);
    const { tries, names } = await database.read(tenant, async (queries) => {
      const owner = name === undefined ? undefined : await findUserByIdentifier(queries, tenant, name);
      const found = await listTries(queries, tenant, {
        userId: owner?.id,
        typed: name,
        application: text('application'),
        ip: ip === undefined ? undefined : { address: ip, block: addressBlock(ip) },
        id: text('id'),
        fromMs: sinceMs === undefined ? undefined : clock.nowMs() - sinceMs,
        limit,
      });
      const ids = found.flatMap((one) => [`user:${one.user_id}`, one.application]);
      return { tries: await triesToJson(queries, tenant, found), names: await listEventNames(queries, tenant, ids, capabilities) };
    });
    const lines = tries.length === 0 ? ['No try to sign in was found.'] : tries.flatMap((one) => describeTry(one, names));
    administrator.print({ items: tries }, lines);
  });
}

/** A try in lines: when, who, where; then why, what to do, and what happened. */
export function describeTry(one: TryJson, names: ReadonlyMap<string, string>): readonly string[] {
  const shown = (reference: unknown): string => names.get(String(reference)) ?? String(reference);
  const who = one['user'] === null ? (one['typed'] === null ? 'nobody named yet' : `“${one['typed']}”`) : shown(`user:${one['user']}`);
  const lines = one['lines'] as readonly Readonly<Record<string, unknown>>[]; // as audit/sign-in-tries.ts makes them
  const told = [
    `${one['started_at']}  ${who} at ${shown(one['application'])}, from ${one['ip'] ?? 'an unknown address'}`,
    `  ${one['says']}`,
    ...(one['advice'] === null ? [] : [`  ${one['advice']}`]),
    ...lines.map((line) =>
      `    ${line['at']}  ${line['says']}${line['detail'] === null ? '' : ` (${line['detail']})`}  ${line['request_id'] ?? ''}`.trimEnd(),
    ),
  ];
  return ['', ...told.map(oneLine)];
}
