// Debian's Apache with one authentication module on a loopback port, serving the .shtml pages of a folder, which may echo who
// signed in. It runs as www-data when the tests run as root.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWebProgram, type WebProgram } from './web-program.ts';

const apache = '/usr/sbin/apache2';
const modules = '/usr/lib/apache2/modules';

/** True when Apache and the module are installed; throws when GATEHOUSE_TEST_REQUIRE names `component` and they are not. */
export function hasApacheModule(module: string, component: string): boolean {
  const found = existsSync(apache) && existsSync(`${modules}/mod_${module}.so`);
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes(component))
    throw new Error(`GATEHOUSE_TEST_REQUIRE names ${component}: apache2 or its module ${module} is missing`);
  return found;
}

export interface ApacheSite {
  /** Holds the pages; readable by everybody. */
  readonly folder: string;
  readonly port: number;
  /** The authentication module, as in mod_<module>.so. */
  readonly module: string;
  readonly directives: readonly string[];
  /** A path that answers 200 once the site works. */
  readonly ready: string;
}

export function startApache(site: ApacheSite): Promise<WebProgram> {
  const { folder, port } = site;
  const path = join(folder, 'apache.conf');
  writeFileSync(path, configuration(site));
  const command = [apache, '-d', folder, '-f', path, '-DFOREGROUND'];
  return startWebProgram(`http://127.0.0.1:${port}${site.ready}`, command, { log: join(folder, 'error.log') });
}

function configuration({ folder, port, module, directives }: ApacheSite): string {
  const load = (name: string): string => `LoadModule ${name}_module ${modules}/mod_${name}.so`;
  const root = process.getuid?.() === 0;
  return [
    `ServerRoot ${folder}`,
    `PidFile ${folder}/apache.pid`,
    `Listen 127.0.0.1:${port}`,
    `ServerName 127.0.0.1:${port}`,
    `ErrorLog ${folder}/error.log`,
    `DefaultRuntimeDir ${folder}`,
    'Mutex sem',
    'TypesConfig /dev/null',
    ...['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'include', 'mime', 'setenvif'].map(load),
    module === 'shib' ? `LoadModule mod_shib ${modules}/mod_shib.so` : load(module),
    ...(root ? ['User www-data', 'Group www-data'] : []),
    `DocumentRoot ${folder}`,
    `<Directory ${folder}>`,
    'Options +Includes',
    'AddType text/html .shtml',
    'AddOutputFilter INCLUDES .shtml',
    'Require all granted',
    '</Directory>',
    ...directives,
  ].join('\n');
}
