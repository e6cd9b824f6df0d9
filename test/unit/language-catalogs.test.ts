// Every catalog of words in every language: the same keys of the same kind with the same placeholders, nothing left in English,
// and no word that no page or mail uses. A catalog that is not in the table below fails too.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { approvalMailCatalogs } from '../../src/approvals/approval-mail.ts';
import { passkeyMailCatalogs } from '../../src/approvals/passkey-mail.ts';
import { pinMailCatalogs } from '../../src/approvals/pin-mail.ts';
import { deviceMailCatalogs } from '../../src/device/device-mail.ts';
import { languages } from '../../src/domain/language.ts';
import { messageCatalogs } from '../../src/http/pages/messages.ts';
import { passkeyCatalogs } from '../../src/web/account/passkey-words.ts';
import { accountCatalogs } from '../../src/web/account/words.ts';
import { enrollWords, linkWords, scanWords } from '../../src/web/app-link-pages.ts';
import { approvalPageCatalogs } from '../../src/web/mailed-approval-page.ts';
import { setupCatalogs } from '../../src/web/setup-words.ts';

type Word = string | ((...values: readonly never[]) => string) | { readonly [name: string]: Word };
type Catalog = Readonly<Record<string, Word>>;
type Catalogs = Readonly<Record<(typeof languages)[number], Catalog>>;

/** By the name and the file that declares them. */
const all = {
  'src/http/pages/messages.ts': { messageCatalogs },
  'src/web/account/words.ts': { accountCatalogs },
  'src/web/account/passkey-words.ts': { passkeyCatalogs },
  'src/web/setup-words.ts': { setupCatalogs },
  'src/web/app-link-pages.ts': { enrollWords, scanWords, linkWords },
  'src/web/mailed-approval-page.ts': { approvalPageCatalogs },
  'src/approvals/pin-mail.ts': { pinMailCatalogs },
  'src/approvals/approval-mail.ts': { approvalMailCatalogs },
  'src/approvals/passkey-mail.ts': { passkeyMailCatalogs },
  'src/device/device-mail.ts': { deviceMailCatalogs },
} as unknown as Readonly<Record<string, Readonly<Record<string, Catalogs>>>>; // catalogs have no index signature of their own

/** Maps by language that hold no words. */
const wordless = ['src/web/account/language-page.ts names', 'src/web/login-page.ts timeFormats'];

/** Words that are rightly the same in another language as in English. */
const same = new Set([
  'de pin',
  'fr factClient',
  'fr pin',
  'de nameLabel',
  'de suggested',
  'de name',
  'de passkeys',
  'fr client',
  'fr message',
]);

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('src/**/*.ts', { cwd: root }).map((file) => ({
  file: file.replaceAll('\\', '/'),
  text: readFileSync(join(root, file), 'utf8'),
}));

describe('language catalogs', () => {
  it('every catalog of the sources is checked here', () => {
    const declared = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:export )?const (\w+): Readonly<Record<Language,/gm)].map(([, name]) => `${file} ${name}`),
    );
    const known = Object.entries(all).flatMap(([file, catalogs]) => Object.keys(catalogs).map((name) => `${file} ${name}`));
    assert.deepEqual(declared.toSorted(), [...known, ...wordless].toSorted());
  });

  for (const [file, name, catalogs] of Object.entries(all).flatMap(([path, named]) =>
    Object.entries(named).map(([key, value]) => [path, key, value] as const),
  )) {
    it(`${name}: all languages, the same keys`, () => {
      assert.deepEqual(Object.keys(catalogs).toSorted(), [...languages].toSorted());
      const wanted = [...flatten(catalogs.en).keys()];
      assert.ok(wanted.length >= 2, `${wanted.length} words`);
      for (const language of languages) assert.deepEqual([...flatten(catalogs[language]).keys()].toSorted(), wanted.toSorted(), language);
    });

    it(`${name}: the same placeholders, no empty word, nothing left in English`, () => {
      for (const [key, word] of flatten(catalogs.en))
        for (const language of languages) {
          const translated = flatten(catalogs[language]).get(key);
          assert.equal(typeof translated, typeof word, `${language} ${key}`);
          const [english, text] = [rendered(word), rendered(translated!)];
          assert.ok(text.trim() !== '', `${language} ${key} is empty`);
          assert.deepEqual(placeholdersIn(text), placeholdersIn(english), `${language} ${key}: ${text}`);
          if (language !== 'en' && !same.has(`${language} ${key}`)) assert.notEqual(text, english, `${language} ${key}`);
        }
    });

    it(`${name}: every word is used`, () => {
      const folder = file.slice(0, file.lastIndexOf('/'));
      const users = sources
        .filter(
          ({ file: other }) =>
            !/\/(messages|words)-(en|de|fr|ja)\.ts$/.test(other) && (other.startsWith('src/web/') || other.startsWith(folder)),
        )
        .filter(({ file: other }) => !other.endsWith('-words.ts'))
        .map(({ text }) => text)
        .join('\n');
      const unused = Object.keys(catalogs.en).filter((key) => !new RegExp(`\\.${key}\\b|'${key}'|[{,] ${key}[ ,]`).test(users));
      assert.deepEqual(unused, []);
    });
  }
});

/** Words by path, those of inner objects too. */
function flatten(catalog: Catalog, prefix = ''): Map<string, Exclude<Word, object> | ((...values: readonly never[]) => string)> {
  const words = new Map<string, string | ((...values: readonly never[]) => string)>();
  for (const [key, word] of Object.entries(catalog))
    if (typeof word === 'object') for (const [path, inner] of flatten(word, `${prefix}${key}.`)) words.set(path, inner);
    else words.set(`${prefix}${key}`, word);
  return words;
}

/** A word with marks for its values; those that are counted take one and many. */
function rendered(word: string | ((...values: readonly never[]) => string)): string {
  if (typeof word === 'string') return word;
  const marks = Array.from({ length: word.length }, (_none, index) => 7001 + index);
  const one = Array.from({ length: word.length }, () => 1);
  const call = word as unknown as (...values: readonly number[]) => string; // numbers and texts are put in alike
  assert.ok(call(...one).trim() !== '');
  return call(...marks);
}

const placeholdersIn = (text: string): readonly string[] => [...new Set(text.match(/70\d\d/g) ?? [])].toSorted();
