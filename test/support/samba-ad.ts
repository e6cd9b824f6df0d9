// Debian's Samba as a domain controller of Active Directory: a domain made anew in a folder, of which LDAP alone is served. Its ports are fixed,
// so each one listens at a loopback address of its own; these ports want root.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LdapFolder, type LdapServer, ldapFolder, startLdapServer } from './directory-server.ts';
import { findJudge } from './judge-binaries.ts';
import { added, hasLdapUtils } from './ldif.ts';

const suffix = 'DC=corp,DC=example';
const password = 'Pass-word-1';

/** True where it can be started; throws when GATEHOUSE_TEST_REQUIRE names samba-ad-dc and it cannot. */
export function hasSambaAd(): boolean {
  const parts =
    findJudge('samba') !== undefined && findJudge('samba-tool') !== undefined && existsSync('/usr/share/samba/setup/provision.ldif');
  const found = parts && hasLdapUtils() && process.getuid?.() === 0;
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes('samba-ad-dc'))
    throw new Error('GATEHOUSE_TEST_REQUIRE names samba-ad-dc: it, samba-ad-provision or ldap-utils is missing, or this is not root');
  return found;
}

/** Starts one with nobody in it but whoever it makes itself, and a reader. */
export async function startSambaAd(): Promise<LdapServer> {
  const address = `127.${randomInt(64, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const folder = await ldapFolder('samba-ad', address);
  try {
    await provision(folder);
  } catch (error) {
    folder.remove();
    throw error;
  }
  const settings = folder.write('smb.conf', configuration(folder, address));
  const reader = { dn: `CN=reader,CN=Users,${suffix}`, password };
  return startLdapServer(folder, {
    command: ['samba', '--interactive', '--model=single', '--debug-stdout', `--configfile=${settings}`],
    access: { url: `ldaps://${address}`, caFile: folder.files.ca, bindDn: 'administrator@corp.example', password },
    plainUrl: `ldap://${address}`,
    suffix,
    reader,
    ldif: added(reader.dn, {
      ...{ objectClass: 'user', sAMAccountName: 'reader', userPrincipalName: 'reader@corp.example', userAccountControl: '512' },
      unicodePwd: `"${password}"`.split('').join('\0').concat('\0'), // UTF-16, in quotes
    }),
  });
}

async function provision(folder: LdapFolder): Promise<void> {
  const log = join(folder.path, 'provision.log');
  const args = [
    'domain',
    'provision',
    '--realm=CORP.EXAMPLE',
    '--domain=CORP',
    '--server-role=dc',
    '--dns-backend=NONE',
    '--host-name=dc1',
  ];
  const where = [`--targetdir=${folder.path}`, '--host-ip=127.0.0.1', `--adminpass=${password}`];
  const options = ['--option=vfs objects=', `--option=log file=${log}`];
  const child = spawn('samba-tool', [...args, ...where, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk}`.slice(-4000)));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  assert.equal(code, 0, said + (existsSync(log) ? readFileSync(log, 'utf8') : ''));
}

function configuration({ path, files }: LdapFolder, address: string): string {
  const run = join(path, 'run');
  mkdirSync(run, { mode: 0o755 });
  return `[global]
  netbios name = DC1
  realm = CORP.EXAMPLE
  workgroup = CORP
  server role = active directory domain controller
  server services = ldap
  vfs objects =
  interfaces = ${address}/8
  bind interfaces only = yes
  tls certfile = ${files.cert}
  tls keyfile = ${files.key}
  tls cafile =
  private dir = ${path}/private
  state directory = ${path}/state
  cache directory = ${path}/cache
  lock directory = ${path}
  binddns dir = ${path}/bind-dns
  pid directory = ${run}
  ncalrpc dir = ${run}/ncalrpc
  winbindd socket directory = ${run}/winbindd
  ntp signd socket directory = ${run}/ntp
`;
}
