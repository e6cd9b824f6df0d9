// Design 17: a kind of registered thing is a file of its own and a line of the list, beside the rows of its events and its table. Shown on
// a copy of the tree.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { copyTree, type TreeCopy } from '../support/tree-copy.ts';

const printer = `// Printers: what the recipe of CONTRIBUTING adds.
import { calledUriFault } from '../client/client-uris.ts';
import { field, ownField, text, time } from '../field.ts';
import { defineKind } from '../kind.ts';

export const printerKind = defineKind({
  noun: 'printer',
  plural: 'printers',
  called: 'printer',
  fields: {
    name: field('name', text(40), { required: true, label: 'Name' }),
    url: field('url', text(200), { required: true, label: 'Address', check: calledUriFault }),
    token: field('token', { ...text(80), input: 'password' }, { hidden: true, label: 'Token' }),
    jammedAtMs: ownField('jammed_at', time),
  },
  key: 'id',
  unique: [['name', 'Another printer has this name.']],
  atMost: { count: 2, field: 'name', of: 'printers' },
  secret: {
    key: 'token',
    goesTo: ({ url }) => [URL.parse(url)?.origin],
    again: () => ({ field: 'token', text: 'must be given again', conflict: 'token is not given, and the known one would go elsewhere' }),
  },
  power: { read: 'settings:read', write: 'settings:write', needs: () => ['users:read'] },
  searched: ({ name }) => [name],
  told: { created: ({ name }) => ({ name }) },
  summaries: { create: 'Add a printer', list: 'List printers', read: 'Read a printer', change: 'Change a printer', remove: 'Delete a printer' },
  pages: { singular: 'Printer', plural: 'Printers', about: 'Where people print.', searchHint: 'A part of the name', title: 'name' },
});
`;
const migration = `import { createTable, type MigrationContext } from '../../table.ts';

export const printers = (context: MigrationContext): Promise<void> =>
  createTable(context, 'printers', {
    columns: { tenant_id: 'text', id: 'text', name: 'text', url: 'text', token: 'text?', jammed_at: 'integer?', created_at: 'integer', updated_at: 'integer' },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'name']],
  });
`;

describe('a kind', () => {
  let copy: TreeCopy;
  before(() => {
    copy = copyTree();
  });
  after(() => copy.remove());

  it('is one file and a line of the list, with rows of events and a table; every surface has it', () => {
    copy.edit('src/domain/extending/printer.ts', () => printer);
    copy.edit('src/domain/kinds.ts', (text) =>
      text
        .replace(/(?=import .*resource\.ts)/, "import { printerKind } from './extending/printer.ts';\n")
        .replace(/(?=^\} as const;)/m, '  printer: printerKind,\n'),
    );
    copy.edit('src/contract/events.ts', (text) =>
      text.replace(
        /(?=^ {2}'role\.created')/m,
        ['created', 'deleted', 'updated']
          .map(
            (act) =>
              `  'printer.${act}': { since: 'Unreleased', about: ['printer'], data: { name: 'text', fields: 'list' }, when: 'A printer.' },\n`,
          )
          .join(''),
      ),
    );
    copy.edit('src/crypto/sealed-columns.ts', (text) =>
      text.replace(
        /(?=^\];)/m,
        "  { table: 'printers', column: 'token', of: 'id', purpose: (...of) => ['printer-token', ...of].join(':') },\n",
      ),
    );
    copy.edit('src/storage/engine/migrations/release-2/9900/9990-printers.ts', () => migration);
    copy.edit('src/storage/engine/migrations/registry.ts', (text) =>
      text
        .replace(/(?=^import)/m, "import { printers } from './release-2/9900/9990-printers.ts';\n")
        .replace(/\n\];\s*$/m, "\n  { number: 9990, name: 'printers', apply: printers },\n];\n"),
    );
    copy.node('--disable-warning=ExperimentalWarning', 'test/support/check-added-kind.ts');
    assert.deepEqual(copy.changed(), [
      'src/contract/events.ts',
      'src/crypto/sealed-columns.ts',
      'src/domain/extending/printer.ts',
      'src/domain/kinds.ts',
      'src/storage/engine/migrations/registry.ts',
      'src/storage/engine/migrations/release-2/NN00/NNNN-printers.ts',
    ]);
  });
});
