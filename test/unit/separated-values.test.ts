// Tables as spreadsheets write them (RFC 4180), with what each puts between its cells.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columnsOf, columnsWithoutHeads, personOf } from '../../src/console/tasks/spreadsheet-columns.ts';
import { readSeparated, separatorOf } from '../../src/platform/separated-values.ts';

const read = (text: string): readonly (readonly [number, readonly string[], string])[] =>
  [...readSeparated(text, separatorOf(text))].map(({ line, cells, text: written }) => [line, cells, written]);

describe('separated values', () => {
  it('commas, semicolons and tabs, by the first line outside quotes', () => {
    for (const separator of [',', ';', '\t']) {
      assert.equal(separatorOf(`a${separator}"b;,\t;,\t"${separator}c\n1;2;3;4;5;6`), separator);
      assert.deepEqual(read(`a${separator}b\n1${separator}2`), [
        [1, ['a', 'b'], `a${separator}b`],
        [2, ['1', '2'], `1${separator}2`],
      ]);
    }
    assert.equal(separatorOf(''), ',');
  });

  it('quotes hold separators, line ends and quotes; lines are counted through them; empty ones are left out', () => {
    assert.deepEqual(read('a,b\r\n\r\n"x, ""y""\nz", 2 \r\n,\r\nend'), [
      [1, ['a', 'b'], 'a,b'],
      [3, ['x, "y"\nz', '2'], '"x, ""y""\nz", 2 '],
      [6, ['end'], 'end'],
    ]);
    assert.deepEqual(read('a,"never closed\nb'), [[1, ['a', 'never closed\nb'], 'a,"never closed\nb']]);
    assert.deepEqual(read('a "quoted" word,b'), [[1, ['a "quoted" word', 'b'], 'a "quoted" word,b']]);
  });
});

describe('columns of a spreadsheet of people', () => {
  it('are named as people name them, in any case, and by paths and labels', () => {
    const heads = [
      'E-Mail',
      'First name',
      'family_name',
      'Groups',
      'Role',
      'Department',
      'enterprise.cost_center',
      'User name',
      'Shoe size',
    ];
    assert.deepEqual(columnsOf(heads, []), [
      'emails',
      'name.given_name',
      'name.family_name',
      'groups',
      'admin_roles',
      'enterprise.department',
      'enterprise.cost_center',
      'user_name',
      null,
    ]);
  });

  it('a first line with an address and no name of a column is a line of people', () => {
    assert.equal(columnsOf(['ada@x.example', 'Ada'], []), undefined);
    assert.deepEqual(columnsWithoutHeads(['Ada', 'ada@x.example']), [null, 'emails']);
    assert.deepEqual(columnsOf(['Ada', 'Lovelace'], []), [null, null]);
  });

  it('a person has what their cells say; an empty cell says nothing', () => {
    const columns = ['emails', 'name.given_name', 'name.family_name', 'groups', null];
    assert.deepEqual(personOf(columns, ['ada@x.example; a@y.example', 'Ada', '', 'Crew; Sea dogs', 'lost'], []), {
      emails: [
        { value: 'ada@x.example', primary: true },
        { value: 'a@y.example', primary: false },
      ],
      name: { given_name: 'Ada' },
      groups: ['Crew', 'Sea dogs'],
    });
    assert.equal(typeof personOf(['emails'], ['a\u0001@x.example'], []), 'string');
  });
});
