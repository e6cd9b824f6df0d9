// Debian's 389 Directory Server: an instance in a folder, as its installer fills its templates, with the plug-in that gives each entry an
// entryUUID from the beginning.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type LdapFolder, type LdapServer, ldapFolder, startLdapServer } from './directory-server.ts';
import { freePort } from './free-port.ts';
import { findJudge } from './judge-binaries.ts';
import { added, hasLdapUtils } from './ldif.ts';

const program = '/usr/sbin/ns-slapd';
const templates = '/usr/share/dirsrv/data';
const suffix = 'dc=corp,dc=example';
const administrator = 'cn=admin';
const password = 'a-kept-password';

/** True where it can be started; throws when GATEHOUSE_TEST_REQUIRE names 389-ds and it cannot. */
export function hasDs389(): boolean {
  const found = existsSync(program) && findJudge('certutil') !== undefined && findJudge('openssl') !== undefined && hasLdapUtils();
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes('389-ds')) throw new Error('GATEHOUSE_TEST_REQUIRE names 389-ds: it, openssl or ldap-utils is missing');
  return found;
}

/** Starts one with nobody in it but a reader. */
export async function startDs389(): Promise<LdapServer> {
  const ports = { plain: await freePort(), secure: await freePort() };
  const folder = await ldapFolder('ds389', '127.0.0.1');
  try {
    fill(folder, ports);
  } catch (error) {
    folder.remove();
    throw error;
  }
  const reader = { dn: `cn=reader,${suffix}`, password };
  const limited = { dn: `cn=limited,${suffix}`, password };
  const account = { objectClass: ['organizationalRole', 'simpleSecurityObject'], userPassword: password };
  return startLdapServer(folder, {
    command: [program, '-D', join(folder.path, 'config'), '-i', join(folder.path, 'pid'), '-d', '0'],
    access: { url: `ldaps://127.0.0.1:${ports.secure}`, caFile: folder.files.ca, bindDn: administrator, password },
    plainUrl: `ldap://127.0.0.1:${ports.plain}`,
    suffix,
    reader,
    limited,
    ldif:
      added(suffix, {
        ...{ objectClass: 'domain', dc: 'corp' },
        aci: `(targetattr="*")(version 3.0; acl "reader"; allow (read, search, compare) userdn="ldap:///cn=*,${suffix}";)`,
      }) +
      added(reader.dn, { ...account, cn: 'reader' }) +
      added(limited.dn, { ...account, cn: 'limited', nsPagedSizeLimit: '3' }),
  });
}

function fill({ path, write, files }: LdapFolder, ports: { readonly plain: number; readonly secure: number }): void {
  const at = (name: string): string => join(path, name);
  for (const name of ['config', 'lock', 'tmp', 'ldif', 'bak', 'run', 'log', 'db']) mkdirSync(at(name));
  for (const schema of ['/usr/share/dirsrv/schema', '/etc/dirsrv/schema']) cpSync(schema, at('config/schema'), { recursive: true });
  for (const name of ['slapd-collations.conf', 'certmap.conf']) copyFileSync(`/etc/dirsrv/config/${name}`, at(`config/${name}`));
  const values: Readonly<Record<string, string>> = {
    ...{ schema_dir: at('config/schema'), lock_dir: at('lock'), tmp_dir: at('tmp'), cert_dir: at('config'), ldif_dir: at('ldif') },
    ...{ bak_dir: at('bak'), run_dir: at('run'), inst_dir: path, log_dir: at('log'), config_dir: at('config'), db_dir: at('db') },
    ...{ db_home_dir: at('db'), db_lib: 'bdb', fqdn: 'localhost', ds_port: `${ports.plain}`, ds_user: userInfo().username },
    ...{ rootdn: administrator, ds_passwd: hashed(password), ldapi_enabled: 'off', ldapi: at('run/ldapi'), ldapi_autobind: 'off' },
    ...{ ds_suffix: suffix, ds_bename: 'userroot' },
  };
  const filled = ['template-dse.ldif', 'template-suffix-db.ldif'].map((name) =>
    readFileSync(join(templates, name), 'utf8')
      .replaceAll(/^#.*\n/gm, '')
      .replaceAll(/%(\w+)%/g, (_, key: string) => values[key] ?? ''),
  );
  // A name in quotes was one of LDAPv2.
  const entries = [...filled, plugins].join('\n').replace(`"${suffix}",`, `${suffix.replaceAll('=', '\\3D').replaceAll(',', '\\2C')},`);
  const secure = `nsslapd-port: ${ports.plain}\nnsslapd-secureport: ${ports.secure}\nnsslapd-security: on\n`;
  const here = 'nsslapd-listenhost: 127.0.0.1\nnsslapd-securelistenhost: 127.0.0.1\n';
  write('config/dse.ldif', entries.replace(/^nsslapd-port: .*\n/m, secure + here).replaceAll(/\n{3,}/g, '\n\n'));
  const run = (name: string, ...args: readonly string[]): void => {
    const { status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8' });
    assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
  };
  run('certutil', '-N', '-d', at('config'), '--empty-password');
  const bundle = ['-inkey', files.key, '-in', files.cert, '-certfile', files.ca, '-name', 'Server-Cert', '-passout', 'pass:x'];
  run('openssl', 'pkcs12', '-export', ...bundle, '-out', at('server.p12'));
  run('pk12util', '-i', at('server.p12'), '-d', at('config'), '-W', 'x');
}

/** {SSHA512}, as it is written where passwords are read. */
function hashed(secret: string): string {
  const salt = randomBytes(8);
  return `{SSHA512}${Buffer.concat([createHash('sha512').update(secret).update(salt).digest(), salt]).toString('base64')}`;
}

/** What an instance adds to its own configuration at its first start, and has from its second on. */
const plugins = [
  { name: 'entryuuid_syntax', library: 'libentryuuid-syntax-plugin', type: 'syntax' },
  { name: 'entryuuid', library: 'libentryuuid-plugin', type: 'betxnpreoperation' },
]
  .map(
    ({ name, library, type }) => `
dn: cn=${name},cn=plugins,cn=config
objectClass: top
objectClass: nsSlapdPlugin
cn: ${name}
nsslapd-pluginPath: ${library}
nsslapd-pluginInitfunc: ${name}_plugin_init
nsslapd-pluginType: ${type}
nsslapd-pluginEnabled: on
nsslapd-pluginId: ${name}
nsslapd-pluginVersion: none
nsslapd-pluginVendor: 389 Project
nsslapd-pluginDescription: ${name}
`,
  )
  .join('');
