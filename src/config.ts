// The configuration: flags, then environment, then gatehouse.yaml, into one frozen object. What the contract fixes is no
// setting, and what belongs to a tenant lives in the database. Unknown keys are errors that say what was expected.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseCidrs } from './platform/address-ranges.ts';

export interface Config {
  /** Scheme, host and port of the root tenant, without a trailing slash; undefined: follows the listening port. */
  readonly publicUrl: string | undefined;
  readonly listenHost: string;
  readonly listenPort: number;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  readonly databasePoolMax: number;
  readonly databaseTimeoutMs: number;
  readonly redisUrl: string | undefined;
  /** base64 or base64url of 32 bytes; undefined: a file in the data folder. */
  readonly masterKey: string | undefined;
  readonly operatorToken: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  readonly trustedProxies: readonly string[];
  readonly egressAllow: readonly string[];
  readonly dev: boolean;
  readonly logLevel: string;
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  readonly attestationRootsApple: string | undefined;
  readonly attestationRootsAndroid: string | undefined;
  readonly attestationStatusList: string | undefined;
  readonly pushFcm: string | undefined;
  readonly pushApns: string | undefined;
}

/** A mistake in the configuration; its message says what was expected, what was found and what to type. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

interface Setting {
  /** Name in gatehouse.yaml; the environment has GATEHOUSE_ and the same in capitals. */
  readonly name: string;
  readonly about: string;
  readonly fallback?: string;
  readonly secret?: boolean;
}

export const settings = [
  { name: 'public_url', about: 'URL of the root tenant, e.g. https://id.example.com' },
  { name: 'listen', about: 'address and port to listen on', fallback: '127.0.0.1:8080' },
  { name: 'data', about: 'folder of the embedded database and keys', fallback: './data' },
  { name: 'database_url', about: 'PostgreSQL URL; absent: the embedded database', secret: true },
  { name: 'database_pool_max', about: 'PostgreSQL connections at most, 1 to 200', fallback: '10' },
  { name: 'database_timeout_ms', about: 'milliseconds to wait for PostgreSQL, 100 to 60000', fallback: '4000' },
  { name: 'redis_url', about: 'Redis for rate limits shared by several nodes', secret: true },
  { name: 'master_key', about: '32 bytes in base64 that encrypt keys at rest', secret: true },
  { name: 'operator_token', about: 'bearer token of the system API', secret: true },
  { name: 'smtp_url', about: 'SMTP server, e.g. smtps://user:pass@mail.example.com; absent: the outbox', secret: true },
  { name: 'mail_from', about: 'sender of mails', fallback: 'Gatehouse <gatehouse@localhost>' },
  { name: 'trusted_proxies', about: 'CIDRs whose X-Forwarded-For is believed, comma-separated', fallback: '' },
  { name: 'egress_allow', about: 'CIDRs beyond public https that outgoing calls may reach, comma-separated', fallback: '' },
  { name: 'dev', about: '1 allows http off loopback, test attestation roots and outbox reading', fallback: '0' },
  { name: 'log_level', about: 'debug, info, warn, error or silent', fallback: 'info' },
  { name: 'metrics_listen', about: 'address and port of /metrics; absent: off' },
  { name: 'attestation_roots_apple', about: 'PEM file replacing the Apple root (development only)' },
  { name: 'attestation_roots_android', about: 'PEM file replacing the Android roots (development only)' },
  { name: 'attestation_status_list', about: "file with Google's list of revoked attestation certificates" },
  { name: 'push_fcm', about: 'service account file of Firebase Cloud Messaging; absent: pushes are only logged' },
  { name: 'push_apns', about: 'account file of Apple Push Notification service; absent: pushes are only logged' },
] as const satisfies readonly Setting[];

type SettingName = (typeof settings)[number]['name'];
export type Flags = Readonly<Partial<Record<SettingName, string>>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Other variables with our prefix that are no settings. */
const foreignVariables: ReadonlySet<string> = new Set(['GATEHOUSE_CONFIG']);

/** Reads the configuration. @throws ConfigError */
export function readConfig(flags: Flags, environment: Environment, workingFolder: string): Config {
  const file = environment['GATEHOUSE_CONFIG'] ?? join(workingFolder, 'gatehouse.yaml');
  const fromFile = readYaml(file, environment['GATEHOUSE_CONFIG'] !== undefined);
  refuseUnknownVariables(environment);
  const value = (name: SettingName): string | undefined => {
    const setting: Setting = settings.find((candidate) => candidate.name === name)!;
    const found = flags[name] ?? fromEnvironment(setting, environment) ?? fromFile[name] ?? setting.fallback;
    return found === '' ? undefined : found;
  };
  const listen = parseListen('listen', value('listen')!);
  const dev = parseSwitch('dev', value('dev') ?? '0');
  const config: Config = {
    publicUrl: parsePublicUrl(value('public_url'), dev, value('trusted_proxies') !== undefined),
    listenHost: listen.host,
    listenPort: listen.port,
    dataFolder: value('data')!,
    databaseUrl: value('database_url'),
    databasePoolMax: parseInteger('database_pool_max', value('database_pool_max')!, 1, 200),
    databaseTimeoutMs: parseInteger('database_timeout_ms', value('database_timeout_ms')!, 100, 60_000),
    redisUrl: value('redis_url'),
    masterKey: value('master_key'),
    operatorToken: value('operator_token'),
    smtpUrl: value('smtp_url'),
    mailFrom: value('mail_from')!,
    trustedProxies: parseCidrList('trusted_proxies', value('trusted_proxies')),
    egressAllow: parseCidrList('egress_allow', value('egress_allow')),
    dev,
    logLevel: parseChoice('log_level', value('log_level')!, ['debug', 'info', 'warn', 'error', 'silent']),
    metricsListen: parseOptional(value('metrics_listen'), (text) => parseListen('metrics_listen', text)),
    attestationRootsApple: value('attestation_roots_apple'),
    attestationRootsAndroid: value('attestation_roots_android'),
    attestationStatusList: value('attestation_status_list'),
    pushFcm: value('push_fcm'),
    pushApns: value('push_apns'),
  };
  if (!dev && (config.attestationRootsApple ?? config.attestationRootsAndroid) !== undefined) {
    throw new ConfigError(
      'attestation_roots_* replace vendor roots and are for development: expected GATEHOUSE_DEV=1, found it off. Unset them, or set GATEHOUSE_DEV=1',
    );
  }
  return Object.freeze(config);
}

const variableOf = (name: string): string => `GATEHOUSE_${name.toUpperCase()}`;

function fromEnvironment(setting: Setting, environment: Environment): string | undefined {
  const variable = variableOf(setting.name);
  const direct = environment[variable];
  const path = setting.secret === true ? environment[`${variable}_FILE`] : undefined;
  if (direct !== undefined && path !== undefined)
    throw new ConfigError(`expected one of ${variable} and ${variable}_FILE, found both. Unset one`);
  if (path === undefined) return direct;
  if (!existsSync(path)) throw new ConfigError(`${variable}_FILE: expected a readable file, found none at ${path}`);
  return readFileSync(path, 'utf8').trim();
}

function refuseUnknownVariables(environment: Environment): void {
  const known = new Set([
    ...settings.flatMap((setting: Setting) => [
      variableOf(setting.name),
      ...(setting.secret === true ? [`${variableOf(setting.name)}_FILE`] : []),
    ]),
    ...foreignVariables,
  ]);
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('GATEHOUSE_') || name.startsWith('GATEHOUSE_TEST_') || known.has(name)) continue;
    throw new ConfigError(`unknown setting ${name}. Expected one of: ${settings.map((setting) => variableOf(setting.name)).join(', ')}`);
  }
}

function readYaml(file: string, required: boolean): Readonly<Record<string, string>> {
  if (!existsSync(file)) {
    if (required) throw new ConfigError(`GATEHOUSE_CONFIG: expected a file, found none at ${file}`);
    return {};
  }
  // Loaded here, synchronously, because most servers have no such file.
  const { parse: parseYaml }: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  const parsed: unknown = parseYaml(readFileSync(file, 'utf8')) ?? {};
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new ConfigError(`${file}: expected "name: value" lines`);
  const known: readonly string[] = settings.map((setting) => setting.name);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (!known.includes(name)) throw new ConfigError(`${file}: unknown setting ${name}. Expected one of: ${known.join(', ')}`);
    values[name] = Array.isArray(value) ? value.join(',') : typeof value === 'boolean' ? String(Number(value)) : String(value);
  }
  return values;
}

/** `host:port`, with IPv6 hosts in brackets. */
export function parseListen(name: string, text: string): { readonly host: string; readonly port: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:]+):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65535)
    throw new ConfigError(`${name}: expected host:port such as 127.0.0.1:8080, found ${text}`);
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]) };
}

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

function parsePublicUrl(text: string | undefined, dev: boolean, behindProxy: boolean): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`public_url: expected a URL such as https://id.example.com, found ${text}`);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new ConfigError(`public_url: expected scheme, host and port only, found ${text}. Use ${url.origin}`);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !dev && !behindProxy) {
    throw new ConfigError(
      `public_url: expected https, or http on a loopback address, found ${text}. Use https://${url.host}, or set GATEHOUSE_DEV=1 while developing`,
    );
  }
  return url.origin;
}

const parseOptional = <T>(text: string | undefined, parse: (text: string) => T): T | undefined =>
  text === undefined ? undefined : parse(text);

function parseInteger(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new ConfigError(`${name}: expected a whole number from ${min} to ${max}, found ${text}`);
  return value;
}

function parseSwitch(name: string, text: string): boolean {
  if (!['0', '1', 'true', 'false'].includes(text)) throw new ConfigError(`${name}: expected 0 or 1, found ${text}`);
  return text === '1' || text === 'true';
}

function parseChoice(name: string, text: string, choices: readonly string[]): string {
  if (!choices.includes(text)) throw new ConfigError(`${name}: expected one of ${choices.join(', ')}, found ${text}`);
  return text;
}

function parseCidrList(name: string, text: string | undefined): readonly string[] {
  const list = parseList(text);
  try {
    parseCidrs(list);
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`); // parseCidrs throws Errors only
  }
  return list;
}

function parseList(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
