// `gatehouse plan`: what `apply` would do with a document. Writes nothing.
import type { Command } from 'commander';
import { addProgressOption } from '../progress.ts';
import { addCommonOptions, addTenantOption, type Options } from '../registry/administrator.ts';
import { runDocument } from './document-file.ts';
import { addServerOptions } from './server-options.ts';

export function planCommand(program: Command): void {
  const command = program
    .command('plan')
    .description('Show what apply would create (+), change (~) and, with --prune, delete (-)')
    .requiredOption('-f, --file <file>', 'the document; - for standard input')
    .option('--prune', 'count what is not in the document as to be deleted')
    .option('--exit-code', 'end with 3 when there is something to change')
    .addHelpText('after', '\nExample:\n  gatehouse plan -f acme.yaml --tenant acme');
  addServerOptions(command);
  addProgressOption(addCommonOptions(addTenantOption(command))).action((options: Options) =>
    runDocument(String(options['file']), options, {
      write: false,
      prune: options['prune'] === true,
      lists: true,
      failsOnChanges: options['exitCode'] === true,
    }),
  );
}
