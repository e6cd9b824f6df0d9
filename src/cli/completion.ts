// `gatehouse completion`: a script for the shell, made from the same table of commands that run.ts runs.
import { Argument, Command, type Option } from 'commander';
import { builtInRoles } from '../domain/people/role.ts';
import { write } from './registry/administrator.ts';

type Load = () => Promise<(program: Command) => void>;
/** The table of run.ts, handed in because it holds this command too. */
export type Commands = Readonly<Record<string, Load>>;

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export function completionCommand(program: Command, commands: Commands): void {
  program
    .command('completion')
    .description('Print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .option('--json', 'print what can be completed, as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  source <(gatehouse completion bash)\n  gatehouse completion zsh > "$fpath[1]/_gatehouse"\n  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish',
    )
    .action(async (shell: Shell, options: { readonly json?: boolean }) => {
      const entries = await listEntries(commands);
      write(options.json === true ? JSON.stringify(entries) : scripts[shell](entries).trimEnd());
    });
}

/** A command by its words, with what may follow it. */
interface Entry {
  readonly words: readonly string[];
  readonly about: string;
  readonly subcommands: readonly string[];
  /** What its argument may be, where that is one of few. */
  readonly choices: readonly string[];
  readonly flags: readonly Flag[];
}

interface Flag {
  readonly flag: string;
  readonly about: string;
  readonly takesValue: boolean;
  /** Whether the value is a file or folder. */
  readonly isPath: boolean;
  /** What its value may be, where that is one of few. */
  readonly choices: readonly string[];
}

/** What follows a flag that takes any text, but mostly one of these; a role of the tenant's own is typed. */
const usual: Readonly<Record<string, readonly string[]>> = {
  '--access-log': ['0', '1'],
  '--database-prepare': ['on', 'off'],
  '--dev': ['0', '1'],
  '--log-level': ['debug', 'info', 'warn', 'error', 'silent'],
  '--mtls-header': ['rfc9440', 'nginx'],
  '--rate-limits': ['on', 'off'],
  '--since': ['30m', '1h', '7d'],
  '--workers': ['auto', '1', '2', '4'],
};
const usualOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'admin invite': { '--role': builtInRoles.map(({ name }) => name) },
};
/** Settings of the server whose value is a file or folder. */
const settingPaths: ReadonlySet<string> = new Set([
  '--apply',
  '--attestation-roots-android',
  '--attestation-roots-apple',
  '--attestation-status-list',
  '--data',
  '--mtls-tls',
  '--push-apns',
  '--push-fcm',
]);

/** The flag whose values are the tenants of the database that the typed line names. */
const tenantFlag = '--tenant';

/** Every command and subcommand, with every flag. */
async function listEntries(commands: Commands): Promise<readonly Entry[]> {
  const program = new Command('gatehouse');
  for (const load of Object.values(commands)) (await load())(program);
  const visit = (command: Command, words: readonly string[]): readonly Entry[] => [
    {
      words,
      about: command.description(),
      subcommands: command.commands.map((child) => child.name()),
      choices: command.registeredArguments[0]?.argChoices ?? [],
      flags: [
        ...command.options.flatMap((option) => flagsOf(option, words)),
        { flag: '--help', about: 'display help for command', takesValue: false, isPath: false, choices: [] },
      ],
    },
    ...command.commands.flatMap((child) => visit(child, [...words, child.name()])),
  ];
  return visit(program, []);
}

const flagsOf = (option: Option, words: readonly string[]): Entry['flags'] =>
  [option.short, option.long]
    .filter((flag) => flag !== undefined)
    .map((flag) => ({
      flag,
      about: option.description,
      takesValue: option.required || option.optional,
      isPath: settingPaths.has(flag) || /[<[](?:file|folder|path)[\]>]/.test(option.flags),
      choices: option.argChoices ?? usualOf[words.join(' ')]?.[flag] ?? usual[flag] ?? [],
    }));

const scripts: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The words are joined to a key; a shell's `case` finds what may follow. */
function bashScript(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ words, subcommands, choices, flags }) =>
      `    '${words.join(' ')}') next='${[...subcommands, ...choices, ...flags.map(({ flag }) => flag)].join(' ')}' ;;`,
  );
  const values = entries.flatMap(({ words, flags }) =>
    flags
      .filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `    '${[...words, flag].join(' ')}') next='${choices.join(' ')}' ;;`),
  );
  const valued = (isPath: boolean): string =>
    [
      ...new Set(entries.flatMap(({ flags }) => flags.filter((one) => one.takesValue && one.isPath === isPath).map(({ flag }) => flag))),
    ].join('|');
  const known = entries.filter(({ words }) => words.length > 0).map(({ words }) => `'${words.join(' ')}'`);
  return `# bash completion of gatehouse
_gatehouse_tenants() {
  local index where=()
  for (( index = 1; index < COMP_CWORD; index++ )); do
    case "\${COMP_WORDS[index]}" in
      --data|--database-url) where+=( "\${COMP_WORDS[index]}" "\${COMP_WORDS[index+1]}" ) ;;
    esac
  done
  COMP_LINE=1 "\${COMP_WORDS[0]}" tenant list --json "\${where[@]}" 2>/dev/null | grep -o '"slug": *"[^"]*"' | cut -d '"' -f 4
}
_gatehouse() {
  local path='' word next='' index current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for (( index = 1; index < COMP_CWORD; index++ )); do
    word="\${path:+$path }\${COMP_WORDS[index]}"
    case "$word" in
      ${known.join('|')}) path="$word" ;;
    esac
  done
  case "\${path:+$path }$before" in
${values.join('\n')}
  esac
  if [ -n "$next" ]; then COMPREPLY=( $(compgen -W "$next" -- "$current") ); return; fi
  case "$before" in
    ${tenantFlag}) COMPREPLY=( $(compgen -W "$(_gatehouse_tenants)" -- "$current") ); return ;;
    ${valued(true)}) COMPREPLY=( $(compgen -f -- "$current") ); return ;;
    ${valued(false)}) return ;;
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=( $(compgen -W "$next" -- "$current") )
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=( $(compgen -f -- "$current") )
}
complete -F _gatehouse gatehouse
`;
}

/** Sourced, or a file of `fpath`: that is read at the first completion, which it then answers. */
function zshScript(entries: readonly Entry[]): string {
  return `#compdef gatehouse
autoload -U +X bashcompinit && bashcompinit
${bashScript(entries)}if [ "\${funcstack[1]}" = _gatehouse ]; then _bash_complete -F _gatehouse; fi
`;
}

/** What several commands have in common is one line, with the commands in its condition. */
function fishScript(entries: readonly Entry[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const named = (words: readonly string[]): string => `"${words.join(' ')}"`;
  const aboutOf = new Map(entries.map(({ words, about }) => [words.join(' '), about]));
  const offers = entries.flatMap(({ words, subcommands, choices: arguments_, flags }) => {
    const children = subcommands.map((name) => `-f -a ${quoted(name)} -d ${quoted(aboutOf.get([...words, name].join(' ')) ?? '')}`);
    const given = arguments_.map((one) => `-f -a ${quoted(one)}`);
    const own = flags.map(({ flag, about, takesValue, isPath, choices }) => {
      const form = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      const offered = flag === tenantFlag ? '(__gatehouse_tenants)' : choices.join(' ');
      const values = !takesValue || isPath ? '' : ` -f${offered === '' ? '' : ` -a ${quoted(offered)}`}`;
      return `${form}${takesValue ? ' -r' : ''}${values} -d ${quoted(about)}`;
    });
    return [...children, ...given, ...own].map((offer) => ({ offer, at: named(words) }));
  });
  const lines = [...Map.groupBy(offers, ({ offer }) => offer)].map(
    ([offer, same]) => `complete -c gatehouse -n ${quoted(`__gatehouse_at ${same.map(({ at }) => at).join(' ')}`)} ${offer}`,
  );
  const known = entries.filter(({ words }) => words.length > 0).map(({ words }) => named(words));
  return `# fish completion of gatehouse
function __gatehouse_at
  set -l command
  for word in (commandline -opc)[2..]
    set -l longer (string join -- ' ' $command $word)
    if contains -- $longer ${known.join(' ')}
      set command $longer
    end
  end
  contains -- "$command" $argv
end
function __gatehouse_tenants
  set -l words (commandline -opc)
  set -l where
  for index in (seq 2 (count $words))
    if contains -- $words[$index] --data --database-url
      set -a where $words[$index] $words[(math $index + 1)]
    end
  end
  env COMP_LINE=1 $words[1] tenant list --json $where 2>/dev/null | string match -ar '"slug": *"[^"]*"' | string split -f 4 '"'
end
${lines.join('\n')}
`;
}
