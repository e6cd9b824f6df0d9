// `gatehouse export`: a tenant as a document that `import`, `plan` and `apply` read.
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import { exportDocument } from '../../administration/declaration/export.ts';
import { openSession } from '../../administration/declaration/reconcile.ts';
import { CommandFailure, usage } from '../failure.ts';
import { addProgressOption, createProgress } from '../progress.ts';
import { addCommonOptions, addTenantOption, administer, by, loadTenant, type Options } from '../registry/administrator.ts';

export function exportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('Write a tenant as a document: settings, resources, clients, providers, groups, users, assignments')
    .option('--out <file>', 'file to write, mode 0600 (standard output when absent)')
    .option('--with-secrets', 'with the hashes of client secrets, so that clients keep working where it is imported; needs --out')
    .option(
      '--complete',
      'a whole tenant with its keys, devices and sessions, to move to another deployment; needs --for and --out, and closes it here',
    )
    .option('--for <key>', 'with --complete: what the other deployment prints with gatehouse tenant import-key')
    .addHelpText(
      'after',
      '\nSigning keys, devices, passkeys and sessions are only in it with --complete. --json writes JSON.\n\nExamples:\n  gatehouse export --tenant acme --out acme.yaml\n  gatehouse export --complete --tenant acme --for gatehouse-import-... --out acme.bundle',
    );
  addProgressOption(addCommonOptions(addTenantOption(command))).action(run);
}

async function run(options: Options): Promise<void> {
  if (options['complete'] === true) return (await import('../moving/export-complete.ts')).exportComplete(options, openNewFile);
  const file = options['out'] === undefined ? undefined : String(options['out']);
  const withSecrets = options['withSecrets'] === true;
  if (withSecrets && file === undefined)
    throw usage('--with-secrets: expected --out <file>, because secrets do not belong on a screen, found none');
  const target = file === undefined ? standardOutput() : newFile(file);
  const progress = createProgress(options);
  try {
    await administer(options, async (administrator) => {
      const tenant = await loadTenant(administrator, options);
      const session = await openSession(administrator, tenant, by);
      for await (const text of exportDocument(session, { withSecrets, asJson: administrator.json, onItem: progress.step }))
        await target.write(text);
    });
  } finally {
    target.close();
    progress.end();
  }
}

interface Target {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => void;
}

function standardOutput(): Target {
  return {
    write: async (text) => {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    },
    close: () => undefined,
  };
}

/** A file that is made here, so that its mode is ours. */
function newFile(file: string): Target {
  const descriptor = openNewFile(file);
  return { write: async (text) => void writeSync(descriptor, text), close: () => closeSync(descriptor) };
}

function openNewFile(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailure(`--out: expected a file that does not exist yet, found one at ${file}. Remove it, or name another`);
  }
}
