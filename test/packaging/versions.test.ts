// One number for a release, wherever it is written: backups, the chart and what people type name the same one, and no release of before had it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { packageVersion } from '../../src/platform/package-folder.ts';
import { goldenReleases } from '../support/golden.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');

it('the version is one, in the package, its lock, the chart and the documents, and was no release’s before', () => {
  const version = packageVersion();
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { version: string }>>;
  };
  const chart = parse(read('deploy/helm/gatehouse/Chart.yaml')) as { readonly version: string; readonly appVersion: string };
  assert.deepEqual([lock.version, lock.packages['']?.version, chart.version, chart.appVersion], [version, version, version, version]);
  const typed = ['install', 'test-identity-provider'].flatMap((page) =>
    [...read(`docs/how-to/${page}.md`).matchAll(/gatehouse[-:](\d+\.\d+\.\d+)/g)].map(([, named]) => named),
  );
  assert.ok(typed.length >= 4, `${typed.length} versions in the documents`);
  assert.deepEqual(new Set(typed), new Set([version]));
  const told = [...read('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, release]) => release);
  assert.equal(told[0], version);
  assert.ok(!(goldenReleases as readonly string[]).includes(version), version);
});
