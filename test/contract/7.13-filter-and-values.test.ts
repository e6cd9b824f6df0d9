// Contract 7.13: invalidFilter, and invalidValue of queries, over HTTP on both databases; hostile filters are answered quickly.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RowId } from '../../src/contract/catalogue.ts';
import { scimFilterCharsMax } from '../../src/contract/limits.ts';
import { assertRefusal } from '../support/refusal.ts';
import { mintScimToken, type ScimCaller, scimCaller, scimPlaces, startScim } from '../support/scim.ts';

const q = encodeURIComponent;
const nested = (depth: number): string => `${'('.repeat(depth)}active eq true${')'.repeat(depth)}`;
const many = (count: number): string => Array.from({ length: count }, () => 'active eq true').join(' or ');
const paths = (count: number): string => Array.from({ length: count }, () => 'emails[value pr]').join(' or ');
const long = (length: number): string => `userName eq "${'a'.repeat(length - 14)}"`;

/** Row, trigger, query string, detail. */
const refused: readonly (readonly [RowId, string, string, string])[] = [
  ['scim.invalidFilter', 'unknown attribute path', `filter=${q('nothing eq "x"')}`, 'Unknown attribute nothing.'],
  ['scim.invalidFilter', 'unknown sub-attribute', `filter=${q('emails.nothing eq "x"')}`, 'Unknown attribute emails.nothing.'],
  ['scim.invalidFilter', 'password', `filter=${q('password eq "x"')}`, 'Unknown attribute password.'],
  ['scim.invalidFilter', 'unsupported operator', `filter=${q('userName xx "x"')}`, 'No operator at 10.'],
  ['scim.invalidFilter', 'unquoted value', `filter=${q('userName eq bjensen')}`, 'A value without quotes at 13.'],
  ['scim.invalidFilter', 'trailing text', `filter=${q('userName eq "a" x')}`, 'Unexpected text at 17.'],
  ['scim.invalidFilter', 'empty group', `filter=${q('()')}`, 'No attribute name at 2.'],
  ['scim.invalidFilter', 'empty filter', 'filter=', 'filter is empty.'],
  ['scim.invalidFilter', 'repeated filter', `filter=${q('active eq true')}&FILTER=${q('active eq true')}`, 'filter is repeated.'],
  ['scim.invalidFilter', 'ordering of a boolean', `filter=${q('active gt true')}`, '"gt" does not apply to active.'],
  ['scim.invalidFilter', 'co on a date', `filter=${q('meta.created co "2026"')}`, '"co" does not apply to created.'],
  ['scim.invalidFilter', 'multi-valued complex attribute compared', `filter=${q('emails eq "x"')}`, 'Emails takes "pr" only.'],
  ['scim.invalidFilter', 'NUL', `filter=${q('userName eq "\\u0000"')}`, 'A string with NUL or half a character at 13.'],
  ['scim.invalidFilter', 'over-long', `filter=${q(long(scimFilterCharsMax + 1))}`, 'Longer than 4096 characters.'],
  ['scim.invalidFilter', 'too deep', `filter=${q(nested(33))}`, 'Nested deeper than 32.'],
  ['scim.invalidFilter', 'too many comparisons', `filter=${q(many(65))}`, 'More than 64 comparisons.'],
  ['scim.invalidFilter', 'too many value paths', `filter=${q(paths(17))}`, 'More than 16 value paths.'],
  ['scim.invalidValue', 'bad date in a filter', `filter=${q('meta.created gt "yesterday"')}`, 'Created compares with a date and time.'],
  [
    'scim.invalidValue',
    'attributes with excludedAttributes',
    'attributes=userName&excludedAttributes=emails',
    'attributes and excludedAttributes cannot be sent together.',
  ],
  ['scim.invalidValue', 'count that is no integer', 'count=1.5', 'count must be an integer.'],
  ['scim.invalidValue', 'startIndex that is no integer', 'startIndex=x', 'startIndex must be an integer.'],
  ['scim.invalidValue', 'bad cursor', 'cursor=AAAA.BBBB', 'The cursor is not valid.'],
  ['scim.invalidValue', 'cursor with startIndex', 'cursor=&startIndex=2', 'cursor and startIndex cannot be sent together.'],
  ['scim.invalidValue', 'sortBy that cannot be sorted by', 'sortBy=title', 'sortBy names an attribute that cannot be sorted by.'],
  ['scim.invalidValue', 'bad sortOrder', 'sortBy=userName&sortOrder=up', 'sortOrder must be ascending or descending.'],
];

/** Queries that must pass: each limit at n, and the twins of the refusals above. */
const accepted: readonly (readonly [string, string])[] = [
  ['filter of as many characters as a filter may have', `filter=${q(long(scimFilterCharsMax))}`],
  ['depth 32', `filter=${q(nested(32))}`],
  ['64 comparisons', `filter=${q(many(64))}`],
  ['16 value paths', `filter=${q(paths(16))}`],
  ['names of parameters in any case', `FILTER=${q('userName pr')}&STARTINDEX=1&Count=5`],
  ['unknown parameters', 'whatever=1'],
  ['huge count and startIndex', 'count=99999999999999999999&startIndex=99999999999999999999'],
];

for (const { database, directory } of scimPlaces) {
  describe(`7.13 queries of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
      await scim.newUser('jane');
    });
    after(() => scim.close());

    for (const [row, name, query, text] of refused) {
      it(`7.13 ${row}: ${name}`, async () => {
        await assertRefusal(await scim.fetch('GET', `/Users?${query}`), row, { text });
      });
    }
    for (const [name, query] of accepted) {
      it(`8 passes: ${name}`, async () => {
        const result = await scim.call('GET', `/Users?${query}`);
        assert.equal(result.status, 200, JSON.stringify(result.body));
      });
    }

    it('7.13 scim.invalidFilter: .search refuses what a list refuses', async () => {
      for (const path of ['/Users/.search', '/.search']) {
        await assertRefusal(await scim.fetch('POST', path, { filter: 'nothing pr' }), 'scim.invalidFilter', {
          text: 'Unknown attribute nothing.',
        });
        await assertRefusal(await scim.fetch('POST', path, { filter: '' }), 'scim.invalidFilter', { text: 'filter is empty.' });
        await assertRefusal(await scim.fetch('POST', path, { count: 'x' }), 'scim.invalidValue', { text: 'count must be an integer.' });
        await assertRefusal(await scim.fetch('POST', path, '{'), 'scim.invalidSyntax', { text: 'The body is not valid JSON.' });
      }
    });

    it('7.13 scim.invalidValue: a cursor of another filter, of another tenant key, and an expired one', async () => {
      await scim.newUser('second');
      const first = await scim.call('GET', '/Users?cursor=&count=1');
      const cursor = q(String(first.body['nextCursor']));
      assert.equal((await scim.call('GET', `/Users?count=1&cursor=${cursor}`)).status, 200);
      const other = await scim.fetch('GET', `/Users?count=1&cursor=${cursor}&filter=${q('active eq true')}`);
      await assertRefusal(other, 'scim.invalidValue', { text: 'The cursor belongs to another query.' });
      await assertRefusal(await scim.fetch('GET', `/Groups?count=1&cursor=${cursor}`), 'scim.invalidValue', {
        text: 'The cursor belongs to another query.',
      });
      const flipped = cursor.startsWith('W') ? `X${cursor.slice(1)}` : `W${cursor.slice(1)}`;
      await assertRefusal(await scim.fetch('GET', `/Users?cursor=${flipped}`), 'scim.invalidValue', { text: 'The cursor is not valid.' });
      await scim.server.clock.advance(3_590_000);
      const later = directory === 'tenant' ? scimCaller(scim.server, await mintScimToken(scim.server)) : scim;
      assert.equal((await later.call('GET', `/Users?count=1&cursor=${cursor}`)).status, 200);
      await scim.server.clock.advance(10_000);
      await assertRefusal(await later.fetch('GET', `/Users?count=1&cursor=${cursor}`), 'scim.invalidValue', {
        text: 'The cursor has expired.',
      });
    });
  });
}
