// Where this package lies: the folder with package.json above the sources, or above dist/ once built.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The package's own folder. */
export function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`expected package.json above ${import.meta.dirname}, found none`);
    folder = above;
  }
  return folder;
}

/** The release, e.g. 0.2.0. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as { readonly version: string }).version; // npm's format
