// `gatehouse doctor`: looks at configuration, database, keys, clock, public URL, proxy and mail of a deployment, and names what
// was expected and what was found; sends a mail and signs in where it is asked to. Exit 1 when a check fails.
import type { Command } from 'commander';
import { checkDatabase, checkMail, checkPublicUrl, type Finding } from '../../administration/deployment-checks.ts';
import type { Config } from '../../config.ts';
import { openKeyRing } from '../../crypto/key-ring.ts';
import { redirectUriFault } from '../../domain/client/client-uris.ts';
import { userNameFault } from '../../domain/people/user-name.ts';
import { listWide } from '../../platform/private-folder.ts';
import { usesDataFolder } from '../../server/open-store.ts';
import type { Database } from '../../storage/engine/database.ts';
import { listStaleKeys, listUserNames } from '../../storage/people/user-names.ts';
import { listClients } from '../../storage/registry/clients/clients.ts';
import { listSigningKeys } from '../../storage/registry/signing-keys.ts';
import { listTenants, type StoredTenant } from '../../storage/registry/tenants.ts';
import { configOf } from '../config-options.ts';
import { CommandFailure, usage } from '../failure.ts';
import { type Administrator, addCommonOptions, administer, allPages, type Options, pageRows } from '../registry/administrator.ts';

const namesPerRead = 1000;

export function doctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('Check a deployment and say what is wrong')
    .option('--mail-to <address>', 'send a mail there too')
    .option('--sign-in', 'sign in at the running server too, in a tenant that is made for it and deleted after it');
  addCommonOptions(command).action(async (options: Options) => {
    const to = options['mailTo'];
    if (to !== undefined && !/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(String(to)))
      throw usage(`--mail-to: expected an email address, found ${String(to)}`);
    const wide = listWideFiles(configOf(options)); // before it is opened: that makes them private
    await administer(options, async (administrator) => {
      const findings: Finding[] = [checkFiles(administrator.config, wide)];
      const { database, clock, config, publicUrl, canMail } = administrator;
      findings.push(...(await checkDatabase(database, clock, placeOf(config))));
      for (const check of [checkKeys, checkUserNames, checkRedirectUris]) findings.push(...(await check(administrator)));
      findings.push(...(await checkPublicUrl(publicUrl, config.trustedProxies, clock)), await checkMail(config.smtpUrl, canMail));
      if (to !== undefined || options['signIn'] === true) {
        const { tryMail, trySignIn } = await import('./trials.ts');
        if (to !== undefined) findings.push(await tryMail(config, publicUrl, String(to)));
        if (options['signIn'] === true) findings.push(await trySignIn(administrator));
      }
      administrator.print(
        { ok: findings.every((finding) => finding.ok), findings },
        findings.map(
          ({ check, ok, expected, found }) =>
            `${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(12)} ${ok ? found : `expected ${expected}, found ${found}`}`,
        ),
      );
      const failed = findings.filter((finding) => !finding.ok);
      if (failed.length > 0)
        throw new CommandFailure(
          `${failed.length} of ${findings.length} checks failed: ${failed.map((finding) => finding.check).join(', ')}`,
        );
    });
  });
}

const placeOf = (config: Config): string => (config.databaseUrl === undefined ? `embedded database in ${config.dataFolder}` : 'PostgreSQL');

const listWideFiles = (config: Config): readonly string[] => (usesDataFolder(config) ? listWide(config.dataFolder) : []);

/** Nobody but its owner reads the data folder; what was wider when the command began is named, though it may be private by now. */
function checkFiles(config: Config, before: readonly string[]): Finding {
  const now = listWideFiles(config);
  const wide = before.map((file) => (now.includes(file) ? file : `${file} (private since this command opened it)`));
  const found = usesDataFolder(config) ? `${config.dataFolder} is private` : 'nothing is kept in files';
  return {
    check: 'files',
    ok: wide.length === 0,
    expected: 'files 0600 in a folder 0700',
    found: wide.length === 0 ? found : wide.join(', '),
  };
}

/** Every tenant's keys open under the master key, and each algorithm has a current and a next one. */
async function checkKeys({ database, encryption }: Administrator): Promise<readonly Finding[]> {
  const tenants = await allTenants(database);
  const faults: string[] = [];
  for (const tenant of tenants) {
    const keys = await database.read(tenant.tenant_id, (queries) => listSigningKeys(queries, tenant.tenant_id));
    try {
      const ring = openKeyRing(tenant.tenant_id, keys, encryption);
      for (const { kid } of keys) ring.verification(kid);
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
    for (const [name, ring] of Map.groupBy(keys, (key) => `${key.use} ${key.alg}`))
      for (const state of ['current', 'next'])
        if (!ring.some((key) => key.state === state)) faults.push(`tenant ${tenant.slug} without a ${state} ${name} key`);
  }
  const found = faults.length === 0 ? `${tenants.length} tenants, every key opens` : faults.join('; ');
  return [
    { check: 'keys', ok: faults.length === 0 && tenants.length > 0, expected: 'keys that open, one current and one next each', found },
  ];
}

function allTenants(database: Database): Promise<readonly StoredTenant[]> {
  return allPages(
    (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
    (tenant) => tenant.slug,
  );
}

const namesShownMax = 20;

/** Names that could not be given today stay valid until they are changed; whoever wants to change them finds them here. */
async function checkUserNames({ database }: Administrator): Promise<readonly Finding[]> {
  const old: string[] = [];
  for (const tenant of await allTenants(database)) {
    for (let after = ''; ; ) {
      const page = await database.read(tenant.tenant_id, (queries) =>
        listUserNames(queries, tenant.tenant_id, { after, limit: namesPerRead }),
      );
      for (const { user_name: name } of page) {
        const fault = userNameFault(name);
        if (fault !== undefined) old.push(`tenant ${tenant.slug}, user ${JSON.stringify(name)}: it ${fault}.`);
      }
      if (page.length < namesPerRead) break;
      after = page.at(-1)!.id;
    }
    for (const { kind, name } of await database.read(tenant.tenant_id, (queries) => listStaleKeys(queries, tenant.tenant_id)))
      old.push(`tenant ${tenant.slug}, ${kind} ${JSON.stringify(name)}: written with ß instead of ẞ it is another's.`);
  }
  const found = old.length === 0 ? 'every user name follows RFC 8265' : `${firstOf(old)} Valid until changed.`;
  return [{ check: 'user_names', ok: true, expected: 'names that follow RFC 8265', found }];
}

/** Redirect URIs registered before they had to be spelled as a URL parser spells them: they work as they are. */
async function checkRedirectUris({ database }: Administrator): Promise<readonly Finding[]> {
  const old: string[] = [];
  for (const { tenant_id: tenant, slug } of await allTenants(database)) {
    const clients = await allPages(
      (after) => database.read(tenant, (queries) => listClients(queries, tenant, { after, limit: pageRows })),
      ({ clientId }) => clientId,
    );
    for (const { clientId, type, redirectUris } of clients)
      for (const uri of redirectUris) {
        const fault = redirectUriFault(uri, type === 'public');
        if (fault !== undefined) old.push(`tenant ${slug}, client ${clientId}, ${JSON.stringify(uri)}: ${fault}.`);
      }
  }
  const found = old.length === 0 ? 'every redirect URI is' : `${firstOf(old)} Valid until changed.`;
  return [{ check: 'redirect_uris', ok: true, expected: 'redirect URIs spelled as URLs are serialised', found }];
}

/** As many as a person reads. */
function firstOf(lines: readonly string[]): string {
  const more = lines.length > namesShownMax ? [`and ${lines.length - namesShownMax} more`] : [];
  return [...lines.slice(0, namesShownMax), ...more].join('; ');
}
