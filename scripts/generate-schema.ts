// Writes the snapshots of the schema that new databases are made of: what the migrations make of an empty one, read back from its catalogue.
// Run by `npm run migration`; with --check it only compares. That of PostgreSQL needs a server, which GATEHOUSE_TEST_POSTGRES_URL names.
import { readFileSync, writeFileSync } from 'node:fs';
import { migrations } from '../src/storage/engine/migrations/registry.ts';
import { snapshotFile } from '../src/storage/engine/migrations/snapshot.ts';
import { databases } from '../test/support/databases.ts';
import { migratedSchema } from '../test/support/migrated-schema.ts';

const isCheck = process.argv.includes('--check');
const wrong: string[] = [];

for (const dialect of ['sqlite', 'postgres'] as const) {
  const file = snapshotFile(dialect);
  if (databases.includes(dialect)) {
    const text = await migratedSchema(dialect);
    if (!isCheck) writeFileSync(file, text);
    else if (text !== readFileSync(file, 'utf8')) wrong.push(file);
  } else {
    const kept = readFileSync(file, 'utf8');
    const isWhole = migrations.every(({ number, name }) => kept.includes(`(${number}, '${name}', `));
    if (!isWhole) wrong.push(`${file} (GATEHOUSE_TEST_POSTGRES_URL must name a server)`);
  }
}
if (wrong.length > 0) {
  console.error(`${wrong.join(', ')}: behind the migrations. Run: npm run migration`);
  process.exitCode = 1;
}
