// A private slapd (OpenLDAP) for tests: in a folder of its own, on free ports of 127.0.0.1, by ldaps and by ldap with STARTTLS, with a certificate
// made for it. Tests that need it are not defined where it is not installed; it is ended by its process id.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'ldapts';
import { type Identity, makeIdentity } from './certificates.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { findJudge } from './judge-binaries.ts';

/** Undefined where it is not installed. */
export const slapdPath = findJudge('slapd');

export const slapdSuffix = 'dc=corp,dc=example';
export const slapdAdmin = { dn: `cn=admin,${slapdSuffix}`, password: 'password-of-the-admin' };
/** Whom directories sign in as: bound by `sizeLimit`, as the admin is not. */
export const slapdReader = { dn: `cn=reader,${slapdSuffix}`, password: 'password-of-the-reader' };
export const slapdPeople = `ou=people,${slapdSuffix}`;
export const slapdGroups = `ou=groups,${slapdSuffix}`;

export interface SlapdOptions {
  /** Lines of the whole server, before its database. */
  readonly global?: readonly string[];
  /** How many entries a search gives whoever is not its admin; without it, any number. OpenLDAP's own default is 500. */
  readonly sizeLimit?: number | string;
  /** Lines of its database, such as overlays. */
  readonly database?: readonly string[];
  /** Names of schemas of /etc/ldap/schema besides core, cosine and inetorgperson. */
  readonly schemas?: readonly string[];
  /** Entries besides the suffix, the reader and the two units, as LDIF; many are loaded faster so than added. */
  readonly ldif?: string;
  /** Its certificate and key; one for localhost and 127.0.0.1 unless given. */
  readonly identity?: Identity;
}

export interface TestSlapd {
  readonly pid: number;
  /** `ldaps://localhost:…` */
  readonly url: string;
  /** `ldap://localhost:…`, for STARTTLS. */
  readonly plainUrl: string;
  readonly ports: { readonly ldap: number; readonly ldaps: number };
  /** Of the authority of its certificate, as PEM. */
  readonly ca: string;
  /** Does something as its admin, by a connection of its own. */
  readonly change: <T>(what: (client: Client) => Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** An authority, and what it issues for names and addresses. */
export async function makeServerIdentity(names: readonly string[], notAfter?: Date) {
  const authority = await makeIdentity({ subject: 'CN=Authority of a directory', isAuthority: true });
  const identity = await makeIdentity({
    subject: `CN=${names[0]}`,
    issuer: authority,
    names: names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
    ...(notAfter !== undefined && { notAfter }),
  });
  return { authority, identity };
}

export async function startSlapd(options: SlapdOptions = {}): Promise<TestSlapd> {
  const made = await makeServerIdentity(['localhost', '127.0.0.1']);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-slapd-'));
  const [ldap, ldaps] = [await freePort(), await freePort()];
  const configuration = writeConfiguration(folder, { ...options, identity: options.identity ?? made.identity });
  writeFileSync(join(folder, 'entries.ldif'), ldifOf(options.ldif ?? ''));
  const program = slapdPath ?? 'slapd';
  // The same program is slapadd.
  await promisify(execFile)(program, ['-T', 'add', '-q', '-f', configuration, '-l', join(folder, 'entries.ldif')]);
  const child = spawn(program, ['-f', configuration, '-h', `ldap://127.0.0.1:${ldap} ldaps://127.0.0.1:${ldaps}`, '-d', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}: ${said}`);
    return (await takesConnections(ldap)) && (await takesConnections(ldaps));
  }, 'slapd listens');
  return {
    pid: child.pid ?? 0,
    url: `ldaps://localhost:${ldaps}`,
    plainUrl: `ldap://localhost:${ldap}`,
    ports: { ldap, ldaps },
    ca: made.authority.cert,
    change: async (what) => {
      const client = new Client({ url: `ldap://127.0.0.1:${ldap}` });
      try {
        await client.bind(slapdAdmin.dn, slapdAdmin.password);
        return await what(client);
      } finally {
        await client.unbind();
      }
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function writeConfiguration(
  folder: string,
  { global = [], database = [], schemas = [], sizeLimit = 'unlimited', identity }: SlapdOptions,
): string {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  mkdirSync(join(folder, 'data'));
  return file(
    'slapd.conf',
    [
      ...['core', 'cosine', 'inetorgperson', ...schemas].map((name) => `include /etc/ldap/schema/${name}.schema`),
      ...['modulepath /usr/lib/ldap', 'moduleload back_mdb', `pidfile ${join(folder, 'slapd.pid')}`],
      `TLSCertificateFile ${file('cert.pem', identity?.cert ?? '')}`,
      `TLSCertificateKeyFile ${file('key.pem', identity?.key ?? '')}`,
      ...global,
      ...['database mdb', `suffix "${slapdSuffix}"`, `directory ${join(folder, 'data')}`, 'maxsize 1073741824', 'dbnosync'],
      `sizelimit ${sizeLimit}`,
      ...[`rootdn "${slapdAdmin.dn}"`, `rootpw ${slapdAdmin.password}`],
      ...['index objectClass,entryUUID,uid,member,uniqueMember eq', ...database],
      '',
    ].join('\n'),
  );
}

const ldifOf = (more: string): string =>
  [
    `dn: ${slapdSuffix}\nobjectClass: domain\ndc: corp`,
    `dn: ${slapdReader.dn}\nobjectClass: person\ncn: reader\nsn: reader\nuserPassword: ${slapdReader.password}`,
    ...[slapdPeople, slapdGroups].map((dn) => `dn: ${dn}\nobjectClass: organizationalUnit\nou: ${/=(\w+)/.exec(dn)?.[1]}`),
    more,
    '',
  ].join('\n\n');

const takesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** A person as LDIF. @param fields more attributes, `name: value` */
export const personLdif = (uid: string, fields: readonly string[] = []): string =>
  [
    `dn: uid=${uid},${slapdPeople}`,
    'objectClass: inetOrgPerson',
    ...[`uid: ${uid}`, `cn: ${uid} Doe`, `sn: Doe`, `givenName: ${uid}`, `mail: ${uid}@corp.example`],
    ...fields,
    '',
  ].join('\n');
