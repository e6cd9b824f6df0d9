// Documents of export and import: every mistake is told by its path, what was expected, what was found, and the line.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { checkDocument } from '../../src/administration/declaration/reconcile.ts';
import { declaredItemCharsMax } from '../../src/contract/limits.ts';

const check = (text: string): Promise<unknown> => checkDocument(readDeclarations(text.split('\n')));

const wrong: readonly (readonly [text: string, message: RegExp])[] = [
  [
    'gatehouse: 1\nusers:\n  - user_name: dora\n  - user_name: erik\n    state: asleep\n',
    /users\[1\]\.state: expected one of active, suspended, found "asleep" \(line 5\)/,
  ],
  [
    'gatehouse: 1\nusers:\n  - user_name: dora\n    colour: red\n',
    /users\[0\]\.colour: expected one of .*user_name.*, found "colour" \(line 4\)/,
  ],
  ['gatehouse: 1\nsettings:\n  pin:\n    length: 99\n', /settings\.pin\.length: expected a value that must be <= 10, found 99 \(line 4\)/],
  ['gatehouse: 2\n', /gatehouse: expected 1, the version of the format, found 2 \(line 1\)/],
  ['users:\n  - user_name: dora\n', /users: expected gatehouse: 1 first, found "users" \(line 1\)/],
  ['gatehouse: 1\nusers:\n  - user_name: [dora\n', /users\[0\]: expected YAML, found .* \(line \d\)/],
  [
    'gatehouse: 1\nusers:\n  - user_name: dora\ngroups:\n  - display_name: x\n',
    /groups: expected sections in the order .*, found "groups" \(line 4\)/,
  ],
  ['gatehouse: 1\nmappings:\n  nowhere: []\n', /mappings\.nowhere: expected one of .*, found "nowhere" \(line 3\)/],
  ['gatehouse: 1\nhouses: []\n', /houses: expected one of gatehouse, tenant, .*settings, .*, found "houses" \(line 2\)/],
  ['', /gatehouse: expected 1, the version of the format, found nothing/],
  ['gatehouse: 1\nusers: 7\n', /users: expected a list, found 7 \(line 2\)/],
  ['gatehouse: 1\nusers:\n  - 7\n', /users\[0\]: expected a value of type object, found 7 \(line 3\)/],
  ['gatehouse: 1\nusers:\n  - user_name: "a\\u0000"\n', /users\[0\]\.user_name: expected text without control characters/],
  ['gatehouse: 1\n- x\n', /gatehouse: expected YAML, found .* \(line 2\)/],
  ['gatehouse: 1\nusers: []\nusers: []\n', /users: expected sections in the order .* each once, found "users" \(line 3\)/],
  ['gatehouse: 1\nclients:\n  - name: x\n', /clients\[0\]\.client_id: expected a value, found nothing \(line 3\)/],
  [
    '{"gatehouse":1,\n"users":[{"user_name":"a"},\n{"user_name":5}]}',
    /users\[1\]\.user_name: expected a value of type .*, found 5 \(line 3\)/,
  ],
];

describe('documents', () => {
  for (const [text, message] of wrong) it(`refused: ${JSON.stringify(text.slice(0, 70))}`, () => assert.rejects(check(text), message));

  it('comments, both indentations, flow style, block text and an empty section are read', async () => {
    const text = `---\n# head\ngatehouse: 1 # version\ntenant: main\nclients:\nusers:\n# first\n- user_name: a\n  title: |\n    - not an item\n\n    # no comment\n- {user_name: b}\n`;
    const items = [];
    for await (const item of readDeclarations(text.split('\n'))) items.push([item.path, item.value]);
    assert.deepEqual(items, [
      ['users[0]', { user_name: 'a', title: '- not an item\n\n# no comment\n' }],
      ['users[1]', { user_name: 'b' }],
    ]);
  });

  it('an item has a size', async () => {
    const item = (chars: number): string =>
      `gatehouse: 1\nusers:\n  - user_name: a\n    title: ${'x'.repeat(chars - '    title: '.length)}\n`;
    await assert.rejects(check(item(declaredItemCharsMax + 1)), /users\[0\]: expected at most \d+ characters, found "more" \(line 3\)/);
    await assert.rejects(check(item(declaredItemCharsMax)), /users\[0\]\.title: expected/);
  });
});
