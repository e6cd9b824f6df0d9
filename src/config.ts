// The configuration: flags, then environment, then gatehouse.yaml, into one frozen object. What the contract fixes is no
// setting, and what belongs to a tenant lives in the database. Unknown keys are errors that say what was expected.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseCidrs } from './platform/net/address-ranges.ts';
import { usableCores } from './platform/processor-quota.ts';
import { databaseUrlFault, mailFromFault, masterKeyFault, mtlsFilesFault, otlpUrlFault, serviceFault } from './server/config-faults.ts';

export interface Config {
  /** Scheme, host and port of the root tenant, without a trailing slash; undefined: follows the listening port. */
  readonly publicUrl: string | undefined;
  readonly listenHost: string;
  readonly listenPort: number;
  /** Processes that serve. */
  readonly workers: number;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  readonly databasePoolMax: number;
  readonly databaseTimeoutMs: number;
  /** False: no named statements, for PgBouncer below 1.21. */
  readonly databasePrepare: boolean;
  readonly redisUrl: string | undefined;
  /** base64 or base64url of 32 bytes; undefined: a file in the data folder. */
  readonly masterKey: string | undefined;
  readonly operatorToken: string | undefined;
  readonly apply: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  readonly trustedProxies: readonly string[];
  readonly egressAllow: readonly string[];
  /** Asked for the records that prove domains; none: the system's. */
  readonly dnsServers: readonly string[];
  /** Between being asked to stop and stopping, for load balancers to notice. */
  readonly drainDelaySeconds: number;
  /** True: no limit by rate and no budget of a person or an address counts; a deployment under test. */
  readonly areLimitsLifted: boolean;
  readonly dev: boolean;
  readonly logLevel: string;
  /** One line a request. */
  readonly accessLog: boolean;
  /** Where traces go; undefined: nowhere. */
  readonly otlpUrl: string | undefined;
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  /** Where clients with certificates come; undefined: nowhere. */
  readonly mtlsListen: { readonly host: string; readonly port: number } | undefined;
  readonly mtlsTls: MtlsFiles | undefined;
  /** Scheme, host and port of it from outside: endpoint aliases in discovery. */
  readonly mtlsUrl: string | undefined;
  /** How trusted proxies hand certificates on; undefined: they do not. */
  readonly mtlsHeader: 'rfc9440' | 'nginx' | undefined;
  readonly attestationRootsApple: string | undefined;
  readonly attestationRootsAndroid: string | undefined;
  readonly attestationStatusList: string | undefined;
  readonly pushFcm: string | undefined;
  readonly pushApns: string | undefined;
}

/** What the TLS of clients with certificates is served with, as PEM. */
export interface MtlsFiles {
  readonly key: string;
  readonly certificate: string;
  /** Authorities whose certificates are believed; undefined: none. */
  readonly authorities: string | undefined;
}

/** A mistake in the configuration; its message says what was expected, what was found and what to type. */
export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
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
  { name: 'listen', about: 'address and port to listen on; localhost: 127.0.0.1 and ::1', fallback: 'localhost:8080' },
  { name: 'workers', about: 'processes that serve, 1 to 64, or auto: one for each core; above 1 only on PostgreSQL', fallback: '1' },
  { name: 'data', about: 'folder of the embedded database and keys', fallback: './data' },
  { name: 'database_url', about: 'PostgreSQL URL, several hosts with commas between; absent: the embedded database', secret: true },
  { name: 'database_pool_max', about: 'PostgreSQL connections at most, 1 to 200', fallback: '10' },
  { name: 'database_timeout_ms', about: 'milliseconds to wait for PostgreSQL, 100 to 60000', fallback: '4000' },
  { name: 'database_prepare', about: 'named statements: on, or off for PgBouncer below 1.21', fallback: 'on' },
  { name: 'redis_url', about: 'Redis for rate limits shared by several nodes', secret: true },
  { name: 'master_key', about: '32 bytes in base64 that encrypt keys at rest', secret: true },
  { name: 'apply', about: 'document that each start applies to the root tenant, as `gatehouse apply` does; nothing is deleted' },
  { name: 'operator_token', about: 'bearer token of the system API', secret: true },
  { name: 'smtp_url', about: 'SMTP server, e.g. smtps://user:pass@mail.example.com; absent: the outbox', secret: true },
  { name: 'mail_from', about: 'sender of mails', fallback: 'Gatehouse <gatehouse@localhost>' },
  { name: 'trusted_proxies', about: 'CIDRs of the proxies whose X-Forwarded-For counts, comma-separated', fallback: '' },
  { name: 'egress_allow', about: 'CIDRs beyond public https that outgoing calls may reach, comma-separated', fallback: '' },
  {
    name: 'dns_servers',
    about:
      "name servers asked to prove domains and for the names of outgoing calls, address or address:port, comma-separated; absent: the system's",
  },
  { name: 'drain_delay', about: 'seconds to keep answering after SIGTERM while not ready, 0 to 300', fallback: '0' },
  { name: 'dev', about: '1 allows http off loopback, test attestation roots and outbox reading', fallback: '0' },
  {
    name: 'rate_limits',
    about: 'off removes every rate limit and every budget of people and addresses; for tests, only with dev',
    fallback: 'on',
  },
  { name: 'log_level', about: 'debug, info, warn, error or silent', fallback: 'info' },
  { name: 'access_log', about: '1 writes a line of JSON for each request', fallback: '0' },
  { name: 'otlp_url', about: 'collector of OpenTelemetry traces, OTLP over HTTP, e.g. http://127.0.0.1:4318; absent: off' },
  { name: 'metrics_listen', about: 'address and port of /metrics; absent: off' },
  { name: 'mtls_listen', about: 'address and port of TLS that asks clients for certificates (RFC 8705); absent: off' },
  {
    name: 'mtls_tls',
    about: 'its PEM files, comma-separated: private key, certificate chain, authorities of client certificates (optional)',
  },
  { name: 'mtls_url', about: 'URL of the endpoints for clients with certificates, e.g. https://mtls.id.example.com; shown in discovery' },
  { name: 'mtls_header', about: 'how trusted proxies send certificates: rfc9440 or nginx; absent: they do not' },
  { name: 'attestation_roots_apple', about: 'PEM file replacing the Apple root (development only)' },
  { name: 'attestation_roots_android', about: 'PEM file replacing the Android roots (development only)' },
  { name: 'attestation_status_list', about: "file with Google's list of revoked attestation certificates" },
  { name: 'push_fcm', about: 'service account file of Firebase Cloud Messaging; tenants may have their own' },
  { name: 'push_apns', about: 'account file of Apple Push Notification service; tenants may have their own' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]['name'];
export type Flags = Readonly<Partial<Record<SettingName, string>>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Other variables with our prefix that are no settings. */
const foreignVariables: ReadonlySet<string> = new Set(['GATEHOUSE_CONFIG']);

/** Reads the configuration. @throws ConfigError */
export function readConfig(flags: Flags, environment: Environment, workingFolder: string | undefined): Config {
  const named = environment['GATEHOUSE_CONFIG'] || undefined;
  const file = named ?? (workingFolder && join(workingFolder, 'gatehouse.yaml'));
  const fromFile = file === undefined ? {} : readYaml(file, named !== undefined);
  refuseUnknownVariables(environment);
  const value = (name: SettingName): string | undefined => {
    const setting: Setting = settings.find((candidate) => candidate.name === name)!;
    const found = flags[name] ?? fromEnvironment(setting, environment) ?? fromFile[name];
    return found || setting.fallback || undefined; // an empty value is none
  };
  const listen = parseListen('listen', value('listen')!);
  const dev = parseSwitch('dev', value('dev') ?? '0');
  const config: Config = {
    publicUrl: parsePublicUrl(value('public_url'), dev, value('trusted_proxies') !== undefined),
    listenHost: listen.host,
    listenPort: listen.port,
    workers: parseWorkers(value('workers')!, value('database_url') === undefined),
    dataFolder: value('data')!,
    databaseUrl: checked(value('database_url'), databaseUrlFault),
    databasePoolMax: parseInteger('database_pool_max', value('database_pool_max')!, 1, 200),
    databaseTimeoutMs: parseInteger('database_timeout_ms', value('database_timeout_ms')!, 100, 60_000),
    databasePrepare: parseChoice('database_prepare', value('database_prepare')!, ['on', 'off']) === 'on',
    redisUrl: checked(value('redis_url'), (text) => serviceFault('redis_url', text, ['redis', 'rediss'])),
    masterKey: checked(value('master_key'), masterKeyFault),
    operatorToken: value('operator_token'),
    apply: value('apply'),
    smtpUrl: checked(value('smtp_url'), (text) => serviceFault('smtp_url', text, ['smtp', 'smtps'])),
    mailFrom: checked(value('mail_from'), mailFromFault)!,
    trustedProxies: parseCidrList('trusted_proxies', value('trusted_proxies')),
    egressAllow: parseCidrList('egress_allow', value('egress_allow')),
    dnsServers: parseDnsServers(value('dns_servers')),
    areLimitsLifted: parseLifted(value('rate_limits')!, dev),
    drainDelaySeconds: parseInteger('drain_delay', value('drain_delay')!, 0, 300),
    dev,
    logLevel: parseChoice('log_level', value('log_level')!, ['debug', 'info', 'warn', 'error', 'silent']),
    accessLog: parseSwitch('access_log', value('access_log') ?? '0'),
    otlpUrl: checked(value('otlp_url'), otlpUrlFault),
    metricsListen: parseOptional(value('metrics_listen'), (text) => parseListen('metrics_listen', text)),
    mtlsListen: parseOptional(value('mtls_listen'), (text) => parseListen('mtls_listen', text)),
    mtlsTls: parseOptional(value('mtls_tls'), readMtlsFiles),
    mtlsUrl: parseOptional(value('mtls_url'), parseMtlsUrl),
    mtlsHeader: parseOptional(value('mtls_header'), (text) => parseChoice('mtls_header', text, ['rfc9440', 'nginx'])),
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
  refuseHalfMtls(config);
  return Object.freeze(config);
}

/** A value that is taken as it is, once nothing is wrong with it. */
function checked(text: string | undefined, fault: (text: string) => string | undefined): string | undefined {
  const found = text === undefined ? undefined : fault(text);
  if (found !== undefined) throw new ConfigError(found);
  return text;
}

function parseLifted(text: string, dev: boolean): boolean {
  const isOff = parseChoice('rate_limits', text, ['on', 'off']) === 'off';
  if (isOff && !dev)
    throw new ConfigError(
      'rate_limits: off lifts what protects people and is for tests: expected GATEHOUSE_DEV=1, found it off. Unset GATEHOUSE_RATE_LIMITS, or set GATEHOUSE_DEV=1',
    );
  return isOff;
}

function refuseHalfMtls({ mtlsListen, mtlsTls, mtlsHeader, trustedProxies }: Config): void {
  if ((mtlsListen === undefined) !== (mtlsTls === undefined))
    throw new ConfigError(
      'expected mtls_listen and mtls_tls together, found one of them. Set GATEHOUSE_MTLS_LISTEN and GATEHOUSE_MTLS_TLS, or neither',
    );
  if (mtlsHeader !== undefined && trustedProxies.length === 0)
    throw new ConfigError(
      `mtls_header: expected the proxies whose header is believed in trusted_proxies, found none. Set GATEHOUSE_TRUSTED_PROXIES, e.g. 10.0.0.5/32`,
    );
}

function readMtlsFiles(text: string): MtlsFiles {
  const files = parseList(text);
  if (files.length < 2 || files.length > 3)
    throw new ConfigError(`mtls_tls: expected two or three files such as key.pem,chain.pem,authorities.pem, found ${text}`);
  const [key = '', certificate = '', authorities] = files.map((file) => readText('mtls_tls', file));
  const fault = mtlsFilesFault({ key, certificate, authorities });
  if (fault !== undefined) throw new ConfigError(fault);
  return { key, certificate, authorities };
}

function parseMtlsUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new ConfigError(`mtls_url: expected https, host and port only, such as https://mtls.id.example.com, found ${text}`);
  return url.origin;
}

const workersMax = 64;

const variableOf = (name: string): string => `GATEHOUSE_${name.toUpperCase()}`;

function fromEnvironment(setting: Setting, environment: Environment): string | undefined {
  const variable = variableOf(setting.name);
  const direct = environment[variable];
  const path = setting.secret === true ? environment[`${variable}_FILE`] || undefined : undefined;
  if (direct !== undefined && path !== undefined)
    throw new ConfigError(`expected one of ${variable} and ${variable}_FILE, found both. Unset one`);
  if (path === undefined) return direct;
  const text = readText(`${variable}_FILE`, path).trim();
  // A secret that was not mounted must not start the server with another key, token or database.
  if (text === '')
    throw new ConfigError(`${variable}_FILE: expected a value, found an empty file at ${path}. Write it, or unset the variable`);
  return text;
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name}: expected a readable file, found none at ${path}`, { cause: error });
  }
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

/** Values as they are written: a token of digits or the word `on` is a text. */
function readYaml(file: string, required: boolean): Readonly<Record<string, string>> {
  if (!required && !existsSync(file)) return {};
  const text = readText(required ? 'GATEHOUSE_CONFIG' : 'gatehouse.yaml', file);
  // Loaded here, synchronously, because most servers have no such file.
  const { parseDocument }: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  const wrong = (found: string): ConfigError => new ConfigError(`${file}: expected "name: value" lines, found ${found}`);
  const document = parseDocument(text, { schema: 'failsafe', customTags: ['null'] });
  if (document.errors[0] !== undefined) throw wrong(document.errors[0].message.split('\n', 1)[0]!); // below it are lines of the file
  const parsed: unknown = document.toJS() ?? {};
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw wrong('none');
  const known: readonly string[] = settings.map((setting) => setting.name);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed as Readonly<Record<string, unknown>>)) {
    if (!known.includes(name)) throw new ConfigError(`${file}: unknown setting ${name}. Expected one of: ${known.join(', ')}`);
    const texts = Array.isArray(value) ? (value as readonly unknown[]) : [value ?? ''];
    if (!texts.every((one) => typeof one === 'string')) throw wrong(`more below ${name}`);
    values[name] = texts.join(',');
  }
  return values;
}

/** `host:port`, with IPv6 hosts in brackets. */
function parseListen(name: string, text: string): { readonly host: string; readonly port: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:]+):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65535)
    throw new ConfigError(`${name}: expected host:port such as 127.0.0.1:8080, found ${text}`);
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]) };
}

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** Addresses that mean every one of this machine; without a public URL the server then calls itself by a loopback one. */
export const isWildcardHost = (host: string): boolean => host === '0.0.0.0' || host === '::';

/**
 * Whether this is somebody trying things out (design 13, "(dev)"): a loopback public URL, the embedded database and no SMTP. What it
 * opens is still closed to everybody but this machine (http/development.ts).
 */
export function isDevelopment({ databaseUrl, smtpUrl, publicUrl, listenHost }: Config): boolean {
  if (databaseUrl !== undefined || smtpUrl !== undefined) return false;
  return publicUrl === undefined ? isLoopbackHost(listenHost) || isWildcardHost(listenHost) : isLoopbackHost(new URL(publicUrl).hostname);
}

/** Whether a mail reaches somebody: there is SMTP, or a developer reads the outbox. */
export const canMail = (config: Config): boolean => config.smtpUrl !== undefined || config.dev || isDevelopment(config);

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

/** `auto` is the cores this process may use, quotas of containers included. */
function parseWorkers(text: string, isEmbedded: boolean): number {
  if (text === 'auto') return isEmbedded ? 1 : Math.min(usableCores(), workersMax);
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > workersMax)
    throw new ConfigError(`workers: expected auto or a whole number from 1 to ${workersMax}, found ${text}`);
  if (count > 1 && isEmbedded)
    throw new ConfigError(
      `workers: expected 1 with the embedded database, which one process serves fastest, found ${text}. Set GATEHOUSE_DATABASE_URL to a PostgreSQL, or GATEHOUSE_WORKERS=1`,
    );
  return count;
}

function parseSwitch(name: string, text: string): boolean {
  if (!/^(?:[01]|true|false)$/i.test(text)) throw new ConfigError(`${name}: expected 0 or 1, found ${text}`);
  return /^(?:1|true)$/i.test(text);
}

function parseChoice<const Name extends string>(name: string, text: string, choices: readonly Name[]): Name {
  const chosen = choices.find((choice) => choice === text);
  if (chosen === undefined) throw new ConfigError(`${name}: expected one of ${choices.join(', ')}, found ${text}`);
  return chosen;
}

function parseDnsServers(text: string | undefined): readonly string[] {
  const list = parseList(text);
  const wrong = list.find((one) => isIP(one.replace(/^\[(.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/, '$1$2')) === 0);
  if (wrong !== undefined) throw new ConfigError(`dns_servers: expected addresses such as 10.0.0.2 or 10.0.0.2:5353, found ${wrong}`);
  return list;
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
