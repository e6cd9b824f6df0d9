// How far a directory was read, by its own numbers and times, whatever our clock says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RawEntry, readAnswer } from '../../src/directories/ldap/answers.ts';
import { numberedChanges, secondsOf, timedChanges } from '../../src/directories/ldap/changes.ts';
import { fileTimeOf } from '../../src/directories/ldap/disabled.ts';
import { entryMessage } from '../support/ldap-messages.ts';

const entryAt = (time: string): RawEntry => readAnswer(entryMessage(2, 'cn=x', { modifyTimestamp: [time] })).is as RawEntry;

describe('changes by numbers of a server', () => {
  const nowMs = Date.UTC(2026, 0, 9);
  const changes = numberedChanges({ highest: 9_007_199_254_740_993n, server: 'cn=dc1 0a' }, nowMs);

  it('are read of the same server only, and from no later than it is', () => {
    assert.deepEqual(changes.mark(), { mark: '9007199254740993', server: 'cn=dc1 0a' });
    assert.equal(changes.canReadSince({ mark: '9007199254740993', server: 'cn=dc1 0a' }), true);
    assert.equal(changes.canReadSince({ mark: '9007199254740994', server: 'cn=dc1 0a' }), false);
    assert.equal(changes.canReadSince({ mark: '1', server: 'cn=dc1 0b' }), false);
    assert.equal(changes.canReadSince({ mark: '20260101000000Z', server: 'cn=dc1 0a' }), false);
  });

  it('come with accounts that expired since a run that reads everything', () => {
    assert.equal(
      changes.filterSince({ mark: '41', server: 'cn=dc1 0a' }),
      `(|(uSNChanged>=42)(&(accountExpires>=${fileTimeOf(Date.UTC(2026, 0, 1))})(accountExpires<=${fileTimeOf(nowMs)})))`,
    );
  });
});

describe('changes by times of entries', () => {
  it('the beginning is no later than any entry says, less the time since', () => {
    let elapsed = 0;
    const changes = timedChanges(() => elapsed);
    assert.equal(changes.mark(), undefined);
    changes.observe(entryAt('20260101000000Z'));
    assert.equal(changes.mark()?.mark, '20260101000000Z');
    // Changed while we read: 100 seconds later by the server, of which 90.5 went by here.
    elapsed = 90.5;
    changes.observe(entryAt('20260101000140.5Z'));
    assert.equal(changes.mark()?.mark, '20260101000009Z');
    changes.observe(entryAt('20200101000000Z'));
    changes.observe(entryAt('nothing'));
    assert.deepEqual(changes.mark(), { mark: '20260101000009Z', server: 'modifyTimestamp' });
  });

  it('are asked for from 60 seconds before, and a run without any goes on from where it began', () => {
    const changes = timedChanges(() => 0);
    assert.equal(changes.filterSince({ mark: '20260101000030Z', server: 'modifyTimestamp' }), '(modifyTimestamp>=20251231235930Z)');
    assert.equal(changes.mark()?.mark, '20260101000030Z');
    changes.observe(entryAt('20251231235940Z'));
    assert.equal(changes.mark()?.mark, '20260101000030Z');
    changes.observe(entryAt('20260101000040Z'));
    assert.equal(changes.mark()?.mark, '20260101000040Z');
  });

  it('are read by marks of their own only', () => {
    const changes = timedChanges(() => 0);
    assert.equal(changes.canReadSince({ mark: '20260101000000Z', server: 'modifyTimestamp' }), true);
    assert.equal(changes.canReadSince({ mark: '20260101000000Z', server: 'cn=dc1' }), false);
    assert.equal(changes.canReadSince({ mark: '12', server: 'modifyTimestamp' }), false);
  });

  it('times as servers write them (RFC 4517 3.3.13)', () => {
    const at = Date.UTC(2026, 1, 3, 4, 5, 6) / 1000;
    for (const text of ['20260203040506Z', '20260203040506.0Z', '20260203040506,123Z', '20260203050506+0100', '20260203003506-0330'])
      assert.equal(secondsOf(text), at, text);
    assert.equal(secondsOf('2026020304Z'), Date.UTC(2026, 1, 3, 4) / 1000);
    for (const text of ['', 'Z', '20260203040506', '2026-02-03T04:05:06Z', '20260203040506Zx', ' 20260203040506Z'])
      assert.equal(secondsOf(text), undefined, text);
  });
});
