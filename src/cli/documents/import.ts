// `gatehouse import`: a document, or what another identity provider exported, into a tenant.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { fromAuth0 } from '../../administration/declaration/importers/from-auth0.ts';
import { fromKeycloak } from '../../administration/declaration/importers/from-keycloak.ts';
import { declare, type ImportedItem, type Left } from '../../administration/declaration/importers/imported.ts';
import { listProvidersOfAliases } from '../../storage/registry/identity-providers.ts';
import { CommandFailure } from '../failure.ts';
import { addProgressOption } from '../progress.ts';
import { type Administrator, addCommonOptions, addTenantOption, administer, loadTenant, type Options } from '../registry/administrator.ts';
import { linesOf, requireFile, runDocument, runItems } from './document-file.ts';

export function importCommand(program: Command): void {
  const command = program
    .command('import <file>')
    .description('Bring a document, a Keycloak realm export or an Auth0 user export into a tenant, or a whole tenant into this deployment')
    .addOption(new Option('--from <format>', 'what the file is').choices(['gatehouse', 'keycloak', 'auth0']).default('gatehouse'))
    .option('--organizations <file>', 'the organisations of an Auth0 tenant, one JSON object a line (docs/migrating-from-auth0.md)')
    .option('--dry-run', 'show what it would do; write nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  gatehouse import acme.yaml --tenant acme\n  gatehouse import realm.json --from keycloak --dry-run\n  gatehouse import users.ndjson --from auth0 --organizations organizations.ndjson\n  gatehouse import acme.bundle',
    );
  addProgressOption(addCommonOptions(addTenantOption(command))).action(run);
}

async function run(file: string, options: Options): Promise<void> {
  const dryRun = options['dryRun'] === true;
  const how = { write: !dryRun, prune: false, lists: dryRun };
  if (file !== '-') requireFile(file);
  if (options['from'] === 'gatehouse') {
    const { importComplete, isBundle } = await import('../moving/import-complete.ts');
    return file !== '-' && isBundle(file) ? importComplete(file, options) : runDocument(file, options, how);
  }
  const left: Left = new Map();
  const items = options['from'] === 'keycloak' ? keycloakItems(file, left) : auth0Items(file, options, left);
  await administer(options, async (administrator) =>
    runItems(administrator, options, declare(await items(administrator)), how, () => account(left)),
  );
}

type Items = AsyncIterable<ImportedItem> | Iterable<ImportedItem>;
/** What a file becomes in the tenant of these options. */
type Source = (administrator: Administrator) => Promise<Items>;

function auth0Items(file: string, options: Options, left: Left): Source {
  const { organizations } = options;
  if (typeof organizations === 'string') requireFile(organizations);
  return async (administrator) => {
    const { id } = await loadTenant(administrator, options);
    const aliasesAmong = async (names: readonly string[]): Promise<ReadonlySet<string>> => {
      const providers = await administrator.database.read(id, (queries) => listProvidersOfAliases(queries, id, names));
      return new Set(providers.map(({ alias }) => alias));
    };
    const theirs = typeof organizations === 'string' ? linesOf(organizations) : undefined;
    return fromAuth0({ users: linesOf(file), organizations: theirs, aliasesAmong }, left);
  };
}

function keycloakItems(file: string, left: Left): Source {
  const { items, left: not } = fromKeycloak(parseRealm(file));
  for (const [reason, count] of not) left.set(reason, count);
  return async () => items;
}

function parseRealm(file: string): Readonly<Record<string, unknown>> {
  try {
    const realm: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof realm === 'object' && realm !== null && 'realm' in realm) return realm as Readonly<Record<string, unknown>>; // just checked
  } catch (error) {
    throw new CommandFailure(`${file}: expected a Keycloak realm export (JSON), found: ${error instanceof Error ? error.message : error}`);
  }
  throw new CommandFailure(
    `${file}: expected a Keycloak realm export with a member "realm", found none. Make one with: kc.sh export --realm <name> --file realm.json`,
  );
}

function account(left: Left): { readonly json: Readonly<Record<string, unknown>>; readonly lines: readonly string[] } {
  const entries = [...left].map(([reason, count]) => ({ count, reason }));
  const lines = entries.map(({ count, reason }) => `  ${count} × ${reason}`);
  return { json: { left: entries }, lines: lines.length === 0 ? [] : ['Left or changed:', ...lines] };
}
