// Design 13, section 5: what documents, help and pages say in plain English. A phrase on the left was misunderstood; the right one is
// written instead.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { eventTypes } from '../../src/contract/events.ts';
import { blocksOf } from '../support/documents.ts';

const root = join(import.meta.dirname, '..', '..');

const instead: Readonly<Record<string, string>> = {
  'runs as nobody in particular': 'runs as an unprivileged user',
  'An API of yours': 'Your API',
  '# Measured': '# Performance',
  '[Measured]': '[Performance]',
  'An item is whole': 'An item replaces the whole record',
  'Gaps we filled': 'Where standards are silent',
  'Who may in': 'Who can sign in',
  'passkeys rest': 'passkeys stop working',
  'let the simulator be your phone': 'use the simulator',
  'no way back': 'to go back, restore the backup',
  'letter by letter': 'exactly',
};

it('no document, help text or page has a phrase of the list', () => {
  const files = globSync(
    ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md', 'sdk/*.md', 'sdk-kotlin/*.md', 'src/**/*.ts', 'deploy/**/*'],
    {
      cwd: root,
    },
  ).filter((file) => /\.(md|ts|ya?ml|json)$/.test(file));
  assert.ok(files.length > 500);
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return Object.entries(instead).flatMap(([phrase, better]) =>
      text.includes(phrase) ? [`${file}: expected '${better}', found '${phrase}'`] : [],
    );
  });
  assert.deepEqual(found, []);
});

/** Turns that a reader has to untangle, and how to say it instead: what people read who run Gatehouse or build on it. */
const turns: readonly (readonly [RegExp, string])[] = [
  [/\bwhoever\b/i, 'everybody who, a person who'],
  [/\b(?:of|for) (?:yours|ours|theirs)\b/, 'your, our, their'],
  [/\bare\s+those\s+of\s+the\s+\[/, 'come from the'],
  [/(?:^|[.:;|] )(?:Not|Nobody|None) (?:there|here)\b/m, 'no person has, there is no'],
  [/(?:^|\. )Of (?:a|the|all|those|customers)\b/m, 'begin with who does what'],
  [/\bworth (?:knowing|reading)\b/, 'know these, read these'],
  [/\bin step\b/, 'up to date'],
  [/\banew\b/, 'again'],
  [/\b(?:is|are) taken\b(?! (?:by|or|away))/, 'is accepted'],
  [/\b(?:is|are) told\b/, 'learns, gets'],
  [/\b(?:is|are) good (?:for|once|until)\b/, 'works for, works once'],
  [/\bstands? (?:in|under|beside|there|behind)\b/, 'is in'],
  [/\bwhat became of\b/i, 'the result of, what happened to'],
  [/\bhands? out\b/, 'gives'],
  [/\b[Tt]he same by\b/, 'Or use'],
  [/\b(?:Off|On) is the default\b/, 'is off by default'],
  [/\bemail PIN\b|\bPIN of (?:a|the) mail\b/, 'mailed code'],
  [/\bcannot be (?:undone|taken back)\b/, 'you can’t undo'],
  [/\bleaves? (?:it|that) away\b/, 'leaves out'],
  [/\bis no (?:superuser|backup|secret|address|tenant)\b/, 'is not a'],
  [/\bby (?:the )?word of\b|\bthe word of the\b/, 'through, if … says so'],
  [/\bhangs? on\b/, 'depends on'],
  [/\bthe very\b/, 'the same, this'],
  [/\bgo(?:es)? by the\b/, 'uses'],
  [/\blinks? by which\b/, 'a link with which'],
  [/\bis no (?:member|administrator|terminal|text)\b/, 'is not a'],
  [/\b(?:row|line|entry) a (?:type|tenant|row|day|core)\b/, 'one row for each type'],
  [/\bwhere that can be done\b/, 'if …'],
];

/** Records of what was decided when, the contract’s own words, and figures. */
const lists = /^docs\/(?:decisions\/|contract\.md$|performance\.md$)/;
const isRead = (file: string): boolean => !lists.test(file);

it('no guide has a turn of the list', () => {
  const files = globSync(['README.md', 'SECURITY.md', 'docs/**/*.md', 'sdk/*.md', 'sdk-kotlin/*.md'], { cwd: root }).filter(isRead);
  assert.ok(files.length > 50, String(files.length));
  const found = files.flatMap((file) => {
    const prose = blocksOf(file).reduce((text, block) => text.replace(block.text, ''), readFileSync(join(root, file), 'utf8'));
    return turns.flatMap(([turn, better]) =>
      [...prose.matchAll(new RegExp(turn.source, `${turn.flags}g`))].map(([text]) => `${file}: ‘${text}’: ${better}`),
    );
  });
  assert.deepEqual(found, []);
});

it('no text of the console has a turn that was mended there', () => {
  const mended = [/\b[Ww]hoever\b/, /\bof yours\b/, /\bcannot be undone\b/, /\banew\b/];
  const found = globSync('src/console/**/*.ts', { cwd: root }).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
      .flatMap((line) =>
        mended.filter((turn) => turn.test(line.replace(/\/\/ .*$/, ''))).map((turn) => `${file}: ${turn.source}: ${line.trim()}`),
      ),
  );
  assert.deepEqual(found, []);
});

/** One name a thing, in every language (design 23, 7): another name that a thing had, where, and the name it has. */
const names: readonly (readonly [files: string, other: RegExp, name: string])[] = [
  [
    'src/{console,account,domain}/**/*.ts',
    /'(?:Devices|No device yet|Device id|Requests of a device)'|\bPIN by mail\b/,
    'phone, mailed code',
  ],
  [
    'src/console/**/*.ts',
    /\b(?:[Tt]heir|the) devices\b|\b(?<![{[] ?)[Dd]evices, passkeys and\b|\b[Tt]h(?:e|is) device (?:was|stops)\b|Devices tab/,
    'phone',
  ],
  ['src/console/**/*.ts', /[“>' ][Cc]lient id\b/, 'client ID'],
  ['src/texts/account/account-texts-en.ts', /\b(?:a|the|this|no) device\b|'Devices'/, 'phone'],
  ['src/texts/account/account-texts-de.ts', /\b(?:[Ee]in|[Kk]ein|[Vv]om|dieses) Gerät\b|'Geräte?\b/, 'Telefon'],
  ['src/texts/account/account-texts-fr.ts', /\b(?:un|cet|les) appareils?\b|[’']appareils?\b|'Appareils?\b/i, 'téléphone'],
  ['src/texts/account/account-texts-ja.ts', /(?<!ほかの)端末|デバイス/, 'スマートフォン'],
  ['{src/phone-page/app/texts*.ts,src/texts/p{ush,hone-page}-texts.ts,src/mails/*.ts}', /\b(?:other|new|[Aa]|this) device\b/, 'phone'],
  ['{src/phone-page/app/texts*.ts,src/texts/p{ush,hone-page}-texts.ts,src/mails/*.ts}', /Gerät|[Aa]ppareil|端末|デバイス/, 'Telefon, …'],
  ['{src/texts/**/*.ts,src/mails/*.ts,src/phone-page/app/*.ts}', /電話(?!番号|または|やメール|でも)/, 'スマートフォン'],
];

it('a thing has one name in the console, on the account page and the phone page, and in mails', () => {
  const found = names.flatMap(([files, other, name]) => {
    const paths = globSync(files, { cwd: root });
    assert.ok(paths.length > 0, files);
    return paths.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && other.test(line.replace(/\/\/ .*$/, '')))
        .map((line) => `${file}: ${name}: ${line.trim()}`),
    );
  });
  assert.deepEqual(found, []);
});

it('what happened is told of applications, APIs and phones', () => {
  const other = /\b(?:clients?|resources?|service providers?|PINs?)\b/i;
  const found = Object.entries(eventTypes).flatMap(([type, { when }]) =>
    other.test(when.replaceAll(/`[^`]*`/g, '')) ? [`${type}: ${when}`] : [],
  );
  assert.deepEqual(found, []);
});
