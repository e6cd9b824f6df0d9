// Makes a tenant follow a document within a server that runs: what the container is seeded with, and test identity providers.

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { loadTenant } from '../../storage/registry/tenant-directory.ts';
import { findTenantBySlug } from '../../storage/registry/tenants.ts';
import type { Administration, By } from '../administration.ts';
import { readDeclarations } from './reader.ts';
import { checkDocument, openSession, type Reconciled, reconcile } from './reconcile.ts';

const by: By = { actor: 'system' };

/** Creates and changes what the lines of a document say; deletes nothing. @throws DeclarationFault, or an Error that names what is in use */
export async function applyDocument(
  administration: Administration,
  slug: string,
  lines: Iterable<string> | (() => AsyncIterable<string>),
): Promise<Reconciled> {
  const { database } = administration;
  const row = await database.systemRead((queries) => findTenantBySlug(queries, slug));
  if (row === undefined) throw new Error(`expected a tenant ${slug}, found none`);
  const read = () => readDeclarations(typeof lines === 'function' ? lines() : lines);
  const session = await openSession(administration, await loadTenant(database, row, administration), by, await checkDocument(read()));
  const result = await reconcile(session, read(), { write: true, prune: false });
  const [conflict] = result.conflicts;
  if (conflict !== undefined) throw new Error(`${conflict.path} (${conflict.title}): ${conflict.text}`);
  return result;
}

/** The lines of a document on disk. @throws Error that names the file */
export async function* linesOfFile(file: string): AsyncGenerator<string> {
  if (!existsSync(file) || !statSync(file).isFile()) throw new Error(`apply: expected a document at ${file}, found none`);
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}
