// `gatehouse config check`: reads the configuration as serve would and shows it, secrets masked.
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { readStartFiles } from '../server/start-files.ts';
import { configOf } from './config-options.ts';
import { addCommonOptions, type Options, table, write } from './registry/administrator.ts';

const secrets: readonly (keyof Config)[] = ['databaseUrl', 'redisUrl', 'masterKey', 'operatorToken', 'smtpUrl', 'mtlsTls'];

export function configCommand(program: Command): void {
  const config = program.command('config').description('The configuration');
  addCommonOptions(config.command('check').description('Check the configuration and show it, secrets masked')).action(
    async (options: Options) => {
      const read = configOf(options);
      await readStartFiles(read);
      const shown = Object.entries(read).map(([name, value]) => [wireName(name), masked(name as keyof Config, value)] as const);
      if (options['json'] === true) write(JSON.stringify(Object.fromEntries(shown)));
      else
        for (const line of table(
          ['SETTING', 'VALUE'],
          shown.map(([name, value]) => [name, text(value)]),
        ))
          write(line);
    },
  );
}

const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const isAddress = (value: unknown): value is { readonly host: string; readonly port: number } =>
  typeof value === 'object' && value !== null && 'port' in value;

const text = (value: unknown): string => (isAddress(value) ? `${value.host}:${value.port}` : value === null ? '' : String(value));

function withoutPassword(address: string): string {
  const url = new URL(address);
  if (url.password === '') return address;
  url.password = '***';
  return url.href;
}

function masked(name: keyof Config, value: unknown): unknown {
  if (value === undefined) return null;
  if (secrets.includes(name)) return '(set)';
  return name === 'otlpUrl' ? withoutPassword(String(value)) : value;
}
