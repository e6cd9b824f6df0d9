// `gatehouse import`: a document, or what another identity provider exported, into a tenant.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Declared } from '../../administration/declaration/document.ts';
import { fromAuth0 } from '../../administration/declaration/importers/from-auth0.ts';
import { fromKeycloak } from '../../administration/declaration/importers/from-keycloak.ts';
import { declare, type Left } from '../../administration/declaration/importers/imported.ts';
import { CommandFailure } from '../failure.ts';
import { addProgressOption } from '../progress.ts';
import { addCommonOptions, addTenantOption, administer, type Options } from '../registry/administrator.ts';
import { linesOf, requireFile, runDocument, runItems } from './document-file.ts';

export function importCommand(program: Command): void {
  const command = program
    .command('import <file>')
    .description('Bring a document, a Keycloak realm export or an Auth0 user export into a tenant, or a whole tenant into this deployment')
    .addOption(new Option('--from <format>', 'what the file is').choices(['gatehouse', 'keycloak', 'auth0']).default('gatehouse'))
    .option('--dry-run', 'show what it would do; write nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  gatehouse import acme.yaml --tenant acme\n  gatehouse import realm.json --from keycloak --dry-run\n  gatehouse import users.ndjson --from auth0\n  gatehouse import acme.bundle',
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
  const { items, left } = options['from'] === 'keycloak' ? keycloakItems(file) : auth0Items(file);
  await administer(options, (administrator) => runItems(administrator, options, items, how, () => account(left)));
}

interface Source {
  readonly items: AsyncIterable<Declared>;
  readonly left: Left;
}

function auth0Items(file: string): Source {
  const left: Left = new Map();
  return { items: declare(fromAuth0(linesOf(file), left)), left };
}

function keycloakItems(file: string): Source {
  const { items, left } = fromKeycloak(parseRealm(file));
  return { items: declare(items), left };
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
