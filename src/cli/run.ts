// The command line: one file per command, loaded when it is called, each added here by one line. Exit codes: 0 ok, 1 failure, 2 usage,
// 3 a plan with changes that was asked to say so.
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { kinds } from '../domain/kinds.ts';
import { packageVersion } from '../platform/package-folder.ts';
import { addExamples } from './examples.ts';
import { CommandFailure, failureJson } from './failure.ts';
import { printable } from './printable.ts';

type Add = (program: Command) => void;

const commands: Readonly<Record<string, () => Promise<Add>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  tenant: async () => (await import('./registry/tenant.ts')).tenantCommand,
  group: async () => (await import('./groups/group.ts')).groupCommand,
  client: async () => (await import('./registry/client.ts')).clientCommand,
  ...Object.fromEntries(
    (Object.keys(kinds) as (keyof typeof kinds)[]).map((noun) => [
      noun.replaceAll('_', '-'),
      async (): Promise<Add> => {
        const { kindCommand } = await import('./registry/kind.ts');
        return (program) => void kindCommand(noun, program);
      },
    ]),
  ),
  organization: async () => (await import('./registry/organization.ts')).organizationCommand,
  user: async () => (await import('./registry/user.ts')).userCommand,
  key: async () => (await import('./registry/key.ts')).keyCommand,
  admin: async () => (await import('./registry/admin.ts')).adminCommand,
  export: async () => (await import('./documents/export.ts')).exportCommand,
  import: async () => (await import('./documents/import.ts')).importCommand,
  plan: async () => (await import('./documents/plan.ts')).planCommand,
  apply: async () => (await import('./documents/apply.ts')).applyCommand,
  backup: async () => (await import('./backup/backup.ts')).backupCommand,
  restore: async () => (await import('./backup/restore.ts')).restoreCommand,
  completion: async () => {
    const { completionCommand } = await import('./completion.ts');
    return (program) => completionCommand(program, commands);
  },
  api: async () => (await import('./api.ts')).apiCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  'sign-ins': async () => (await import('./sign-ins.ts')).signInsCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  config: async () => (await import('./config-check.ts')).configCommand,
  contract: async () => (await import('./contract.ts')).contractCommand,
  'sign-in': async () => (await import('./sign-in.ts')).signInCommand,
  phone: async () => (await import('./phone.ts')).phoneCommand,
};

/** Runs one command and gives the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const isJson = argv.includes('--json');
  const program = new Command('gatehouse')
    .description('A multi-tenant identity provider')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(isJson ? toldAsJson(text.replace(/^error: /, '').trim()) : text) });
  if (argv[0]?.startsWith('-') === true) program.version(packageVersion(), '--version', 'print the release');
  if (argv[0] !== 'serve' || argv.includes('--help') || argv.includes('-h')) endQuietlyWithTheReader(); // a server goes on without its reader
  const named = argv[0] !== undefined && Object.hasOwn(commands, argv[0]) ? [argv[0]] : Object.keys(commands);
  try {
    if (argv[0] !== '--version') await addCommands(program, named);
    addExamples(program);
    await program.parseAsync(argv as string[], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = describeFailure(error);
    process.stderr.write(isJson ? toldAsJson(message) : `gatehouse: ${printable(message)}\n`);
    if (error instanceof ConfigError) return 2;
    return error instanceof CommandFailure ? error.exitCode : 1;
  }
}

/** Loads commands and adds them to a program; all of them unless some are named. */
export async function addCommands(program: Command, names: readonly string[] = Object.keys(commands)): Promise<void> {
  for (const name of names) (await commands[name]!())(program);
}

/** `gatehouse user list | head` is no failure. */
function endQuietlyWithTheReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

const toldAsJson = (message: string): string => `${printable(JSON.stringify(failureJson(message)))}\n`;

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
