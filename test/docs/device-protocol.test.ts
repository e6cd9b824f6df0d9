// docs/device-protocol.md says what the code does: every refusal of the catalogue and every endpoint, neither more nor fewer.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { deviceRows } from '../../src/contract/device.ts';
import type { Row } from '../../src/contract/row.ts';
import { callsTable, refusalsTable } from '../../src/device/protocol/tables.ts';

const text = readFileSync('docs/device-protocol.md', 'utf8');
const section = (title: string): string => text.split(/^## /m).find((part) => part.includes(title)) ?? '';

it('names every refusal of the device plane with its status, error and kind', () => {
  const documented = [...section('. Refusals').matchAll(/^\| (\d{3}) \| `(\w+)` \| (?:`(\w+)`)? ?\|/gm)].map(([, status, error, kind]) =>
    [status, error, kind ?? ''].join(' '),
  );
  const rows: readonly Row[] = Object.values(deviceRows);
  const known = rows.map(({ status, code, kind }) => [status, code, kind ?? ''].join(' '));
  assert.ok(known.length > 30);
  assert.deepEqual(documented.toSorted(), [...new Set(known)].toSorted());
});

it('names every call of the device plane', () => {
  const documented = [...section('. Calls').matchAll(/^\| `(\w+) (\S+)` \|/gm)].map(([, method, path]) => `${method} ${path}`);
  const routes = readFileSync('src/device/routes.ts', 'utf8');
  const known = [...routes.matchAll(/route\('([^']+)', (\{.*\})\);$/gm)].flatMap(([, path, methods]) =>
    [...methods!.matchAll(/\b(GET|POST|PUT|PATCH|DELETE):/g)].map(([, method]) => `${method} ${path!.replace(':id', '{id}')}`),
  );
  assert.ok(known.length > 15);
  assert.deepEqual(documented.toSorted(), known.toSorted());
});

it('has the tables that src/device/protocol makes: npm run generate', () => {
  for (const table of [callsTable(), refusalsTable()]) assert.ok(text.includes(`\n${table}\n`), table.split('\n', 1)[0]);
});
