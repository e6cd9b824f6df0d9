// Writes docs/contract.md from the row tables; with --check it only compares and fails when the file is out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { catalogue } from '../src/contract/catalogue.ts';

const file = 'docs/contract.md';
const lines = [
  '# The error contract',
  '',
  'Generated from `src/contract/` by `node scripts/generate-contract-docs.ts`; do not edit. `gatehouse contract` prints the same.',
  'An opaque row has several triggers and one byte-identical answer. `design` marks rows beyond the protocol contract.',
  '',
];
const sections = Map.groupBy(Object.entries(catalogue), ([, row]) => row.section);
for (const section of [...sections.keys()].sort((left, right) => sortKey(left) - sortKey(right))) {
  lines.push(`## ${section}`, '', '| row | status | code | envelope | opaque | when |', '|---|---|---|---|---|---|');
  for (const [id, row] of sections.get(section)!) {
    const code = row.kind === undefined ? row.code : `${row.code}, kind ${row.kind}`;
    lines.push(
      `| \`${id}\` | ${row.status} | \`${code}\` | ${row.envelope} | ${row.opaque ? 'yes' : 'no'} | ${row.when.replaceAll('|', '\\|')} |`,
    );
  }
  lines.push('');
}
const text = lines.join('\n');

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(`${file} is out of date. Run: node_modules/.bin/node scripts/generate-contract-docs.ts`);
  process.exitCode = 1;
}

function sortKey(section: string): number {
  return section === 'design' ? 1000 : Number(section.split('.')[1]);
}
