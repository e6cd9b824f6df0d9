// What tests write to somebody else's directory, as LDIF (RFC 2849), by the programs of OpenLDAP. Every value goes in base64, so that a test may
// write whatever the directory takes.
import { spawn } from 'node:child_process';
import { findJudge } from './judge-binaries.ts';

export type Values = Readonly<Record<string, string | readonly string[]>>;

const line = (name: string, value: string): string => `${name}:: ${Buffer.from(value).toString('base64')}`;
const valuesOf = (values: string | readonly string[]): readonly string[] => (typeof values === 'string' ? [values] : values);
const record = (dn: string, lines: readonly string[]): string => `${[line('dn', dn), ...lines].join('\n')}\n\n`;

export const added = (dn: string, values: Values): string =>
  record(dn, ['changetype: add', ...Object.entries(values).flatMap(([name, some]) => valuesOf(some).map((one) => line(name, one)))]);

/** Replaces each of these attributes; one without values goes. */
export const changed = (dn: string, values: Values): string =>
  record(dn, [
    'changetype: modify',
    ...Object.entries(values).flatMap(([name, some]) => [`replace: ${name}`, ...valuesOf(some).map((one) => line(name, one)), '-']),
  ]);

/** @param below where it moves to; absent: it stays */
export const renamed = (dn: string, rdn: string, below?: string): string =>
  record(dn, ['changetype: modrdn', line('newrdn', rdn), 'deleteoldrdn: 1', ...(below === undefined ? [] : [line('newsuperior', below)])]);

export const removed = (dn: string): string => record(dn, ['changetype: delete']);

/** A value as it stands in the name of an entry (RFC 4514, 2.4). */
export const inName = (value: string): string =>
  value
    .replaceAll(/["+,;<=>\\]/g, '\\$&')
    .replace(/^[ #]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ');

export interface LdapAccess {
  readonly url: string;
  /** Of the authority for ldaps://, a file of PEM. */
  readonly caFile?: string;
  readonly bindDn: string;
  readonly password: string;
}

/** True where the programs are installed. */
export const hasLdapUtils = (): boolean => findJudge('ldapmodify') !== undefined;

/** Writes LDIF to a directory, record after record; rejects with what was refused. */
export async function writeLdif(access: LdapAccess, ldif: string): Promise<void> {
  await runLdap('ldapmodify', access, [], ldif);
}

/** What is found, as LDIF; a value a line. */
export const searchLdap =
  (access: LdapAccess) =>
  (base: string, filter: string, ...attributes: readonly string[]): Promise<string> =>
    runLdap('ldapsearch', access, ['-LLL', '-o', 'ldif-wrap=no', '-b', base, filter, ...attributes], '');

/** Whether a directory takes a name and password. */
export const answersLdap = (access: LdapAccess): Promise<boolean> =>
  runLdap('ldapsearch', access, ['-s', 'base', '-b', '', '1.1'], '').then(
    () => true,
    () => false,
  );

function runLdap(program: string, { url, caFile, bindDn, password }: LdapAccess, args: readonly string[], input: string): Promise<string> {
  const child = spawn(program, ['-x', '-H', url, '-D', bindDn, '-w', password, ...args], {
    env: { ...process.env, LDAPTLS_REQCERT: 'demand', ...(caFile !== undefined && { LDAPTLS_CACERT: caFile }) },
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.stdin.on('error', () => undefined); // it ended before it read everything, and says why
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const text = Buffer.concat(said).toString();
      if (code === 0) resolve(text);
      else reject(new Error(`${program}: ${text.slice(-2000)}`));
    });
  });
}
