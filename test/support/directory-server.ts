// What the directories that others wrote have in common in tests: where one is, who reads there, its certificate of an authority of the tests, and
// how it is started in a folder of its own and ended.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeIdentity } from './certificates.ts';
import { answersLdap, type LdapAccess, searchLdap, writeLdif } from './ldif.ts';
import { startWebProgram, type WebProgram } from './web-program.ts';

export interface Reader {
  readonly dn: string;
  readonly password: string;
}

export interface LdapServer {
  /** ldaps:// */
  readonly url: string;
  /** ldap://, for STARTTLS. */
  readonly plainUrl: string;
  /** The certificate of its authority. */
  readonly ca: string;
  readonly suffix: string;
  /** Somebody who may read everything below the suffix. */
  readonly reader: Reader;
  /** Somebody who may, and is given three entries at most. */
  readonly limited?: Reader;
  /** Has its administrator write LDIF. */
  readonly write: (ldif: string) => Promise<void>;
  /** What its administrator finds, as LDIF; a value a line. */
  readonly search: (base: string, filter: string, ...attributes: readonly string[]) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface LdapFolder {
  readonly path: string;
  readonly write: (name: string, text: string) => string;
  /** Of its authority, and of the server itself: files of PEM. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly ca: string;
  readonly remove: () => void;
}

/** A folder with a certificate for an address. */
export async function ldapFolder(name: string, address: string): Promise<LdapFolder> {
  const authority = await makeIdentity({ subject: `CN=Authority of ${name}`, isAuthority: true });
  const server = await makeIdentity({ subject: `CN=${name}`, names: [{ type: 'ip', value: address }], issuer: authority });
  const path = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`));
  const write = (file: string, text: string): string => {
    writeFileSync(join(path, file), text);
    chmodSync(join(path, file), 0o600);
    return join(path, file);
  };
  const files = { ca: write('ca.pem', authority.cert), cert: write('cert.pem', server.cert), key: write('key.pem', server.key) };
  return { path, write, files, ca: authority.cert, remove: () => rmSync(path, { recursive: true, force: true }) };
}

interface Started {
  readonly command: readonly string[];
  readonly access: LdapAccess;
  readonly plainUrl: string;
  readonly suffix: string;
  readonly reader: Reader;
  readonly limited?: Reader;
  /** What it has from the beginning. */
  readonly ldif: string;
}

/** Starts a program that serves a directory from its folder, and writes what it has from the beginning; the folder goes with it. */
export async function startLdapServer(folder: LdapFolder, started: Started): Promise<LdapServer> {
  const { command, access, ldif, ...rest } = started;
  let program: WebProgram | undefined;
  const close = async (): Promise<void> => {
    await program?.close();
    folder.remove();
  };
  try {
    program = await startWebProgram(() => answersLdap(access), command);
    const write = (changes: string): Promise<void> => writeLdif(access, changes);
    await write(ldif);
    return { url: access.url, ca: folder.ca, ...rest, write, search: searchLdap(access), close };
  } catch (error) {
    await close();
    throw error;
  }
}
