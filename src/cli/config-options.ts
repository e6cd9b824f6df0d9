// The configuration flags shared by commands: every setting as `--kebab-case`.
import type { Command } from 'commander';
import { type Config, type Flags, readConfig, settings } from '../config.ts';

export function addConfigOptions(command: Command): Command {
  for (const { name, about } of settings) command.option(`--${name.replaceAll('_', '-')} <value>`, about);
  return command;
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
