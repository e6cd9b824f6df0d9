// The troubleshooting page names rows of the contract: each is there, with the status and the code the page shows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { catalogue } from '../../src/contract/catalogue.ts';
import type { Row } from '../../src/contract/row.ts';
import { readDocument } from '../support/documents.ts';

const rows: Readonly<Record<string, Row>> = catalogue;

it('every row the troubleshooting page names is in the contract, with the status and code beside it', () => {
  const seen = readDocument('docs/troubleshooting.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split(' | ')[0]!.replace(/^\| /, ''));
  const wrong: string[] = [];
  let named = 0;
  for (const cell of seen) {
    const status = /\b([45]\d\d)\b/.exec(cell)?.[1];
    const code = /\d `([a-z_]+)`/.exec(cell)?.[1];
    for (const [, id] of cell.matchAll(/`([a-z]+\.[a-zA-Z_]+)`/g)) {
      named += 1;
      const row = rows[id!];
      if (row === undefined) wrong.push(`${id}: no such row`);
      else if (status !== undefined && String(row.status) !== status) wrong.push(`${id}: expected ${row.status}, found ${status}`);
      else if (code !== undefined && row.code !== code) wrong.push(`${id}: expected ${row.code}, found ${code}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(named >= 20, `${named} rows`);
});
