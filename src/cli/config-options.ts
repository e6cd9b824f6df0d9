// The configuration flags shared by commands: every setting as `--kebab-case`.
import { type Command, Option } from 'commander';
import { type Config, type Flags, readConfig, settings } from '../config.ts';

/** What says where the data is: the only ones that help shows of commands beside `serve`. */
const shownBesideServe: ReadonlySet<string> = new Set(['data', 'database_url', 'public_url']);

export function addConfigOptions(command: Command): Command {
  const isServe = command.name() === 'serve';
  for (const { name, about } of settings) {
    const option = new Option(`--${name.replaceAll('_', '-')} <value>`, about);
    if (!isServe) option.helpGroup('Where the data is:').hideHelp(!shownBesideServe.has(name));
    command.addOption(option);
  }
  return isServe ? command : command.addHelpText('after', '\nThe other settings of the server are flags as well: gatehouse serve --help');
}

/** Reads the configuration with the parsed options of a command as flags. @throws ConfigError */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
  const flags: Record<string, string> = {};
  for (const { name } of settings) {
    const option = options[name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())];
    if (typeof option === 'string') flags[name] = option;
  }
  return readConfig(flags as Flags, process.env, process.cwd());
}
