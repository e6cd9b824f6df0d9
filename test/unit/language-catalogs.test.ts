// Every catalog of texts in every language: the same keys of the same kind with the same placeholders, nothing left in English,
// and no word that no page or mail uses. A catalog that is not in the table below fails too.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { languages } from '../../src/domain/language.ts';
import { approvalMailCatalogs } from '../../src/mails/approval-mail.ts';
import { deviceMailCatalogs } from '../../src/mails/device-mail.ts';
import { externalIdentityMailCatalogs } from '../../src/mails/external-identity-mail.ts';
import { invitationMailCatalogs } from '../../src/mails/invitation-mail.ts';
import { organizationInvitationMailCatalogs } from '../../src/mails/organization-invitation-mail.ts';
import { passkeyMailCatalogs } from '../../src/mails/passkey-mail.ts';
import { pinMailCatalogs } from '../../src/mails/pin-mail.ts';
import { recoveryCodeMailCatalogs } from '../../src/mails/recovery-code-mail.ts';
import { recoveryMailCatalogs } from '../../src/mails/recovery-mail.ts';
import { reportedMailCatalogs } from '../../src/mails/reported-mail.ts';
import { stoppedMailCatalogs } from '../../src/mails/stopped-mail.ts';
import { trialMailCatalogs } from '../../src/mails/trial-mail.ts';
import { webhookDisabledMailCatalogs } from '../../src/mails/webhook-disabled-mail.ts';
import { wrongCodesMailCatalogs } from '../../src/mails/wrong-codes-mail.ts';
import { accountCatalogs } from '../../src/texts/account/account-texts.ts';
import { organizationCatalogs } from '../../src/texts/account/organization-texts.ts';
import { enrollTexts, linkTexts, scanTexts } from '../../src/texts/app-link-texts.ts';
import { approvalPageCatalogs } from '../../src/texts/approval-page-texts.ts';
import { brandTexts } from '../../src/texts/brand-texts.ts';
import { deviceSignInTexts } from '../../src/texts/device-sign-in-texts.ts';
import { setupPageCatalogs } from '../../src/texts/organization-setup-texts.ts';
import { pageCatalogs } from '../../src/texts/pages/page-texts.ts';
import { passkeyCatalogs } from '../../src/texts/passkey-texts.ts';
import { phonePageTexts } from '../../src/texts/phone-page-texts.ts';
import { pushTexts } from '../../src/texts/push-texts.ts';
import { setupCatalogs } from '../../src/texts/setup-texts.ts';
import { welcomeCatalogs } from '../../src/texts/welcome-texts.ts';

type Word = string | ((...values: readonly never[]) => string) | { readonly [name: string]: Word };
type Catalog = Readonly<Record<string, Word>>;
type Catalogs = Readonly<Record<(typeof languages)[number], Catalog>>;

/** By the name and the file that declares them. */
const all = {
  'src/texts/pages/page-texts.ts': { pageCatalogs },
  'src/texts/brand-texts.ts': { brandTexts },
  'src/texts/account/account-texts.ts': { accountCatalogs },
  'src/texts/account/organization-texts.ts': { organizationCatalogs },
  'src/texts/organization-setup-texts.ts': { setupPageCatalogs },
  'src/texts/passkey-texts.ts': { passkeyCatalogs },
  'src/texts/setup-texts.ts': { setupCatalogs },
  'src/texts/welcome-texts.ts': { welcomeCatalogs },
  'src/texts/app-link-texts.ts': { enrollTexts, scanTexts, linkTexts },
  'src/texts/device-sign-in-texts.ts': { deviceSignInTexts },
  'src/texts/phone-page-texts.ts': { phonePageTexts },
  'src/texts/push-texts.ts': { pushTexts },
  'src/texts/approval-page-texts.ts': { approvalPageCatalogs },
  'src/mails/pin-mail.ts': { pinMailCatalogs },
  'src/mails/approval-mail.ts': { approvalMailCatalogs },
  'src/mails/passkey-mail.ts': { passkeyMailCatalogs },
  'src/mails/device-mail.ts': { deviceMailCatalogs },
  'src/mails/invitation-mail.ts': { invitationMailCatalogs },
  'src/mails/organization-invitation-mail.ts': { organizationInvitationMailCatalogs },
  'src/mails/recovery-code-mail.ts': { recoveryCodeMailCatalogs },
  'src/mails/reported-mail.ts': { reportedMailCatalogs },
  'src/mails/wrong-codes-mail.ts': { wrongCodesMailCatalogs },
  'src/mails/stopped-mail.ts': { stoppedMailCatalogs },
  'src/mails/trial-mail.ts': { trialMailCatalogs },
  'src/mails/webhook-disabled-mail.ts': { webhookDisabledMailCatalogs },
  'src/mails/recovery-mail.ts': { recoveryMailCatalogs },
  'src/mails/external-identity-mail.ts': { externalIdentityMailCatalogs },
} as unknown as Readonly<Record<string, Readonly<Record<string, Catalogs>>>>; // catalogs have no index signature of their own

/** Maps by language that hold no words. */
const wordless = ['src/account/language-page.ts names', 'src/console/appearance/texts-pages.ts languageNames'];

/** Texts that are rightly the same in another language as in English. */
const same = new Set([
  'de pin',
  'de code',
  'fr code',
  'fr application',
  'fr factClient',
  'fr pin',
  'de nameLabel',
  'de passkeyTitle',
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
            !/-(en|de|fr|ja)\.ts$/.test(other) &&
            (/^src\/(sign-in|account|welcome|console|appearance|first-party|phone-page|docs-site|organization-setup|pages|http|oidc)\//.test(
              other,
            ) ||
              other.startsWith(folder)),
        )
        .filter(({ file: other }) => !other.startsWith('src/texts/') || other === 'src/texts/pages/page-texts.ts')
        .map(({ text }) => text)
        .join('\n');
      const unused = Object.keys(catalogs.en).filter((key) => !new RegExp(`\\.${key}\\b|'${key}'|[{,] ${key}[ ,]`).test(users));
      assert.deepEqual(unused, []);
    });
  }
});

/** Texts by path, those of inner objects too. */
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
