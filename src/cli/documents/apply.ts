// `gatehouse apply`: makes a tenant follow a document. Repeating it changes nothing; a run that was cut off is completed by the next.
import type { Command } from 'commander';
import { addProgressOption } from '../progress.ts';
import { addCommonOptions, addTenantOption, type Options } from '../registry/administrator.ts';
import { runDocument } from './document-file.ts';
import { addServerOptions } from './server-options.ts';

export function applyCommand(program: Command): void {
  const command = program
    .command('apply')
    .description('Make a tenant follow a document; deletes nothing without --prune')
    .requiredOption('-f, --file <file>', 'the document; - for standard input')
    .option('--prune', 'delete what is not in the document, in the sections it has')
    .addHelpText(
      'after',
      '\nSee first what it would do: gatehouse plan -f <file>\n\nExample:\n  gatehouse apply -f acme.yaml --tenant acme',
    );
  addServerOptions(command);
  addProgressOption(addCommonOptions(addTenantOption(command))).action((options: Options) =>
    runDocument(String(options['file']), options, { write: true, prune: options['prune'] === true, lists: true }),
  );
}
