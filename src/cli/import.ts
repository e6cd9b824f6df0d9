// `gatehouse import`: a document, or what another identity provider exported, into a tenant.
import type { Command } from 'commander';
import { addCommonOptions, addTenantOption, type Options } from './administrator.ts';
import { runDocument } from './document-file.ts';
import { addProgressOption } from './progress.ts';

export function importCommand(program: Command): void {
  const command = program
    .command('import <file>')
    .description('Bring a document into a tenant')
    .addHelpText('after', '\nExamples:\n  gatehouse import acme.yaml --tenant acme');
  addProgressOption(addCommonOptions(addTenantOption(command))).action(run);
}

async function run(file: string, options: Options): Promise<void> {
  await runDocument(file, options, { write: true, prune: false, lists: false });
}
