// `gatehouse import` of a bundle that `export --complete` made: a whole tenant, as it was when it was closed.
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { BundleFault, bundleFormat, openBundle } from '../../administration/moving/bundle.ts';
import { importTenant, inspectBundle } from '../../administration/moving/import-tenant.ts';
import { importKeyOf } from '../../crypto/bundle-seal.ts';
import { loadMasterKey } from '../../crypto/master-key.ts';
import { CommandFailure } from '../failure.ts';
import { createProgress } from '../progress.ts';
import { type Administrator, administer, by, type Options } from '../registry/administrator.ts';

/** Whether a file says that it is such a bundle. */
export function isBundle(file: string): boolean {
  const start = Buffer.alloc(bundleFormat.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, start, 0, start.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return start.toString() === bundleFormat;
}

/** What bundles for this deployment are sealed to. */
export const ownImportKey = ({ config }: Administrator): ReturnType<typeof importKeyOf> =>
  importKeyOf(loadMasterKey(config.masterKey, config.dataFolder, false));

export async function importComplete(file: string, options: Options): Promise<void> {
  const dryRun = options['dryRun'] === true;
  const progress = createProgress(options);
  await administer(options, async (administrator) => {
    const key = ownImportKey(administrator);
    const lines = (): AsyncIterable<string> => openBundle(createReadStream(file), key);
    try {
      const { head, counts } = await inspectBundle(administrator, lines());
      const whole = [...counts.values()].reduce((sum, count) => sum + count, 0);
      let done = 0;
      if (!dryRun)
        await importTenant(administrator, lines(), by, (_table, rows) => {
          done += rows;
          progress.part('importing', done, whole);
        });
      progress.end();
      const { slug, tenant_id: id, base_url, created } = head;
      administrator.print({ tenant: { id, slug, base_url }, created, imported: !dryRun, rows: Object.fromEntries(counts) }, [
        `${dryRun ? 'Would import' : 'Imported'} tenant ${slug} as it was at ${created}: ${whole} rows.`,
        ...(dryRun ? [] : [`It is served at ${base_url}. Send its requests here, then delete it where it comes from.`]),
      ]);
    } catch (error) {
      throw error instanceof BundleFault ? new CommandFailure(`${file}: ${error.message}`) : error;
    }
  });
}
