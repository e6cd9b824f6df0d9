// What `plan` and `apply` take to work on a server elsewhere, as a job of CI does.
import { type Command, Option } from 'commander';

export function addServerOptions(command: Command): void {
  const add = (flags: string, about: string): unknown => command.addOption(new Option(flags, about).helpGroup('On a server elsewhere:'));
  add('--server <address>', 'the address of the tenant, such as https://id.example.com/t/acme, instead of a database beside this command');
  add('--token-file <file>', 'the token that the platform of this job gave it, instead of a secret; - for standard input');
  add('--client-id <id>', 'where several clients are the same workload');
}
