// `gatehouse contract`: prints the error catalogue.
import type { Command } from 'commander';
import { catalogue } from '../contract/catalogue.ts';

export function contractCommand(program: Command): void {
  program
    .command('contract')
    .description('Print the error catalogue')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => {
      if (options.json === true) {
        process.stdout.write(`${JSON.stringify(catalogue, null, 2)}\n`);
        return;
      }
      for (const [id, row] of Object.entries(catalogue))
        process.stdout.write(`${row.section.padEnd(7)} ${id.padEnd(36)} ${row.status} ${row.code.padEnd(26)} ${row.when}\n`);
    });
}
