// `gatehouse group map`: which group of tenants has which tenant, for the router in front of them. It needs no database: it asks each
// group.
import { type Command, Option } from 'commander';
import { replaceFile } from '../../platform/replace-file.ts';
import { addConfigOptions, configOf } from '../config-options.ts';
import { usage } from '../failure.ts';
import { oneLine, printable } from '../printable.ts';
import { type Options, write } from '../registry/administrator.ts';
import { addGroupOption, type Group, openGroupCaller, readGroups } from './group-calls.ts';
import { loadMap } from './group-tenants.ts';
import { type RouterFormat, routerFormats, writeMap } from './router-formats.ts';

export function groupCommand(program: Command): void {
  const group = program.command('group').description('Groups of tenants, each with its own database');
  const map = group
    .command('map')
    .description('Print which group has which tenant, as the configuration of a router')
    .addOption(formatOption().makeOptionMandatory())
    .option('--out <file>', 'file to replace if it changes (standard output when absent)')
    .option('--json', 'print JSON');
  addConfigOptions(addGroupOption(map, 'a group and the address of its system API; repeated, the group for everything else first')).action(
    printMap,
  );
}

export const formatOption = (): Option => new Option('--format <router>', 'the router that reads the map').choices(routerFormats);

async function printMap(options: Options): Promise<void> {
  const format = options['format'] as RouterFormat; // one of the choices
  const callers = await openGroups(options, readGroups(options));
  const map = await loadMap(callers);
  for (const domain of map.leftOut) process.stderr.write(`gatehouse: ${oneLine(domain)} is left out: no request can have it as its host\n`);
  const text = writeMap(format, map);
  if (options['out'] !== undefined) replaceFile(String(options['out']), text, mapMode);
  if (options['json'] === true) {
    const { fallback, hosts, slugs, leftOut } = map;
    write(JSON.stringify({ default: fallback, hosts: Object.fromEntries(hosts), slugs: Object.fromEntries(slugs), left_out: leftOut }));
  } else if (options['out'] === undefined) process.stdout.write(printable(text));
  else write(`The map of ${callers.length} groups is in ${options['out']}.`);
}

/** A router reads it, and there is nothing secret in it. */
export const mapMode = 0o644;

/** @throws CommandFailure where none is named */
export async function openGroups(options: Options, groups: readonly Group[]): ReturnType<typeof openAll> {
  if (groups.length === 0)
    throw usage(
      '--group: expected each group, the group for everything else first, found none. Try: --group group-1=http://10.0.1.10:8080',
    );
  return openAll(options, groups);
}

function openAll(options: Options, groups: readonly Group[]) {
  const config = configOf(options);
  return Promise.all(groups.map((group) => openGroupCaller(config, group)));
}
