// Design 10: a field added to a table reaches schema, JSON, row, document, form and flag; nothing else is written. And what
// CONTRIBUTING says of adding one is true: how many files of src name a field of each table.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { Compile } from 'typebox/compile';
import { columnType, migrationText, newFields } from '../../scripts/make-migration.ts';
import { changeOf, propertiesOf } from '../../src/administration/schema-pieces.ts';
import { addFieldFlags, flagOf, givenFlags } from '../../src/cli/registry/field-flags.ts';
import { clientFields } from '../../src/domain/client/client.ts';
import { resourceFields } from '../../src/domain/client/resource.ts';
import {
  choice,
  defaultsOf,
  field,
  flag,
  list,
  missingField,
  overlay,
  readChange,
  seconds,
  text,
  toJson,
  valueFault,
} from '../../src/domain/field.ts';
import { groupColumns } from '../../src/domain/people/group.ts';
import { serviceProviderFields } from '../../src/domain/saml/service-provider.ts';
import { tenantFields } from '../../src/domain/tenant/tenant.ts';
import { formOf, readFields } from '../../src/first-party/form-field.ts';
import { snapshotFile } from '../../src/storage/engine/migrations/snapshot.ts';
import { fromRow, toCells, toRow } from '../../src/storage/engine/rows/row-codec.ts';

const before = {
  name: field('name', text(20), { required: true, label: 'Name' }),
};
const after = {
  ...before,
  colours: field('colours', list(choice(['red', 'green'], { red: { label: 'Red' }, green: { label: 'Green' } }), 3), {
    default: ['red'],
    label: 'Colours',
    cli: 'colour',
  }),
  isLoud: field('is_loud', flag, { default: false, label: 'Loud', tab: 'Sound', cli: 'loud' }),
  pauseSeconds: field('pause_seconds', seconds(1, 60), { default: 5, label: 'Pause', cli: 'pause', help: 'Between two.' }),
  motto: field('motto', text(5), { label: 'Motto', check: (motto) => (motto === 'no' ? 'may not be no' : undefined) }),
};

describe('a table of fields', () => {
  const given = { name: 'A', colours: ['green', 'green'], is_loud: true, motto: null };
  const values = overlay(after, given);

  it('values: defaults, repeats and null', () => {
    assert.deepEqual(values, { name: 'A', colours: ['green'], isLoud: true, pauseSeconds: 5, motto: undefined });
    assert.deepEqual(overlay(after, { motto: 'b' }, values), { ...values, motto: 'b' });
    assert.deepEqual(defaultsOf(after), { name: null, colours: ['red'], is_loud: false, pause_seconds: 5, motto: null });
  });

  it('faults of single values, and of a required one that is missing', () => {
    assert.equal(missingField(after, { motto: 'no' }), 'name');
    assert.equal(missingField(after, given), undefined);
    assert.deepEqual(valueFault(after, { motto: 'no' }), { field: 'motto', text: 'may not be no' });
    assert.equal(valueFault(after, given), undefined);
  });

  it('JSON in the order of the table, and the row with one column a field', () => {
    assert.equal(JSON.stringify(toJson(after, values)), '{"name":"A","colours":["green"],"is_loud":true,"pause_seconds":5,"motto":null}');
    const row = toRow(after, values);
    assert.deepEqual(row, { name: 'A', colours: '["green"]', is_loud: 1, pause_seconds: 5, motto: null });
    assert.deepEqual(fromRow(after, row), values);
  });

  it('a change has the values and the cells that its JSON names, and no others', () => {
    assert.deepEqual(readChange(after, { motto: null, pause_seconds: 7, other: 1 }), { motto: undefined, pauseSeconds: 7 });
    assert.deepEqual(toCells(after, { motto: undefined, pauseSeconds: 7 }), { motto: null, pause_seconds: 7 });
  });

  it('the schema takes what has the shape and refuses the rest', () => {
    const schema = Compile(changeOf(propertiesOf(after)));
    assert.ok(schema.Check(given));
    for (const wrong of [
      { name: null },
      { name: '' },
      { name: 'a'.repeat(21) },
      { colours: ['blue'] },
      { colours: ['red', 'red', 'red', 'red'] },
      { is_loud: 1 },
      { pause_seconds: 0 },
      { pause_seconds: 61 },
      { motto: 'longer' },
      { other: 1 },
    ])
      assert.ok(!schema.Check(wrong), JSON.stringify(wrong));
    assert.equal(propertiesOf(after)['pause_seconds']?.['description' as never], 'Pause. Between two.');
  });

  it('the form has the field in its part, and reads it back; what the form did not ask stays out', () => {
    const form = formOf(after);
    assert.deepEqual(
      form.map(({ path, kind, tab }) => [path, kind, tab]),
      [
        ['name', 'text', undefined],
        ['colours', 'checks', undefined],
        ['is_loud', 'checkbox', 'Sound'],
        ['pause_seconds', 'time', undefined],
        ['motto', 'text', undefined],
      ],
    );
    const typed = new URLSearchParams('name=A&colours=green&is_loud=on&motto=');
    assert.deepEqual(readFields(form, typed), { ok: true, json: { ...given, colours: ['green'] } });
  });

  it('the command line has its flag', () => {
    let options: Readonly<Record<string, unknown>> = {};
    const command = addFieldFlags(new Command('make').exitOverride(), after).action((all) => {
      options = all;
    });
    command.configureOutput({ writeErr: () => undefined }).parse(['--colour', 'red', 'green', '--loud', '--pause', '7'], { from: 'user' });
    assert.deepEqual(givenFlags(after, options), { colours: ['red', 'green'], is_loud: true, pause_seconds: 7 });
    assert.throws(() => command.parse(['--colour', 'blue'], { from: 'user' }), /blue/);
    assert.deepEqual([flagOf(after, 'is_loud'), flagOf(after, 'motto')], ['--loud', 'motto']);
  });

  it('the migration of a new field adds its column, and nothing for one that is there', () => {
    const schema = 'CREATE TABLE "things" ("tenant_id" TEXT NOT NULL, "name" TEXT NOT NULL, "motto" TEXT);';
    const fresh = newFields('things', after, schema);
    assert.deepEqual(
      fresh.map((one) => [one.name, columnType(one)]),
      [
        ['colours', `text='["red"]'`],
        ['is_loud', 'integer=0'],
        ['pause_seconds', 'integer=5'],
      ],
    );
    assert.equal(columnType(after.motto), 'text?');
    assert.throws(() => columnType(after.name), /name: expected a default/);
    assert.match(
      migrationText('isLoud', [['things', after.isLoud]]),
      /^\/\/ New fields: is_loud of things\.\n[\s\S]*addColumn\(context, 'things', 'is_loud', "integer=0"\);\n\}\n$/,
    );
  });

  it('every field of a registered thing has its column', () => {
    const schema = readFileSync(snapshotFile('sqlite'), 'utf8');
    assert.deepEqual(newFields('clients', clientFields, schema), []);
    assert.deepEqual(newFields('service_providers', serviceProviderFields, schema), []);
    assert.deepEqual(newFields('groups', groupColumns, schema), []);
    assert.deepEqual(newFields('tenants', tenantFields, schema), []);
    assert.deepEqual(newFields('resources', resourceFields, schema), []);
  });

  it('a table without the field has none of it', () => {
    assert.deepEqual(Object.keys(propertiesOf(before)), ['name']);
    assert.deepEqual(toRow(before, { name: 'A' }), { name: 'A' });
    assert.equal(formOf(before).length, 1);
  });
});

describe('one definition', () => {
  const sources = globSync('src/**/*.ts').map((file) => [file, readFileSync(file, 'utf8')] as const);
  const naming = (name: RegExp): readonly string[] => sources.filter(([, source]) => name.test(source)).map(([file]) => file);

  it('a field of a client is named by its table and by migrations', () => {
    const files = naming(/\brequire_par\b/);
    assert.deepEqual(
      files.filter((file) => !file.includes('/migrations/')),
      ['src/domain/client/client.ts'],
    );
    assert.ok(files.length <= 4);
  });

  it('a field of a service provider, and a setting, is named by its table and by who uses its value', () => {
    const own = (name: RegExp): readonly string[] => naming(name).filter((file) => !file.includes('/migrations/'));
    assert.deepEqual(own(/\brelay_states\b/), ['src/domain/saml/service-provider.ts']);
    assert.deepEqual(own(/\bsends_per_hour_max\b/).toSorted(), ['src/approvals/mailed/pin.ts', 'src/domain/tenant/settings.ts']);
  });

  it('CONTRIBUTING names the files of its recipes, five lines each, and no other file of src names what they add', () => {
    const recipes = readFileSync('CONTRIBUTING.md', 'utf8').split(/^## /m);
    const linesOf = (title: string): string => {
      const lines =
        recipes
          .find((recipe) => recipe.startsWith(title))
          ?.trim()
          .split('\n')
          .slice(1) ?? [];
      assert.equal(lines.length, 5, title);
      return lines.join('\n');
    };
    const named = (text: string): readonly string[] => [...text.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map((match) => match[1]!);
    const field = linesOf('Adding a field of a client');
    const grant = linesOf('Adding a grant');
    for (const file of [...named(field), ...named(grant)]) assert.ok(existsSync(file), file);
    assert.deepEqual(
      naming(/\brequire_pkce\b/).filter((file) => !field.includes(file) && !file.includes('/migrations/')),
      [],
    );
    assert.deepEqual(
      naming(/clientCredentialsGrant/).filter((file) => !grant.includes(file) && !file.startsWith('src/oidc/grants/')),
      [],
    );
  });

  it('the long name of a grant is spelled once', () => {
    assert.deepEqual(naming(/'urn:openid:params:grant-type:/), ['src/domain/oidc/grant-types.ts']);
  });
});
