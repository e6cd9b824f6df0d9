// The limits of the attributes a tenant adds and of their values, each at n and n+1 by the Management API and by SCIM.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  customAllowedValuesMax,
  customAttributesPerTenantMax,
  customBytesPerUserMax,
  customClaimCharsMax,
  customKeyBytesMax,
  customValueCharsMax,
  customValuesMax,
} from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { customSchema, patchBody, type ScimCaller, startScim } from '../support/scim.ts';

for (const database of databases) {
  describe(`limits of custom attributes (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    let id: string;
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      await managed.make('POST', '/custom-attributes', { name: 'note' });
      for (const at of [0, 1, 2]) await managed.make('POST', '/custom-attributes', { name: `notes_${at}`, list: true });
      ({ id } = await scim.newUser('limited'));
    });
    after(() => scim.close());
    const write = (custom: Json): Promise<Response> => managed.call('PATCH', `/users/${id}`, { custom });
    const provision = (custom: Json): Promise<Response> =>
      scim.fetch('PATCH', `/Users/${id}`, patchBody({ op: 'replace', value: { [customSchema]: custom } }));
    const define = (body: Json): Promise<Response> => managed.call('POST', '/custom-attributes', body);

    /** Both surfaces take what fits, and neither what is one more. */
    async function atTheLimit(fits: Json, beyond: Json, kind: string, texts: readonly [RegExp, RegExp]): Promise<void> {
      for (const take of [write, provision]) assert.equal((await take(fits)).status, 200);
      await assertRefusal(await write(beyond), 'management.invalid_request', { kind, text: texts[0] });
      await assertRefusal(await provision(beyond), 'scim.invalidValue', { text: texts[1] });
      const none = Object.fromEntries(Object.keys(fits).map((name) => [name, null]));
      assert.equal((await write(none)).status, 200);
    }

    it('customValueCharsMax', () =>
      atTheLimit({ note: 'x'.repeat(customValueCharsMax) }, { note: 'x'.repeat(customValueCharsMax + 1) }, 'custom.note', [
        /1024 char/,
        /1024/,
      ]));
    it('customKeyBytesMax, of the folded text', () => {
      const text = '名'.repeat(Math.floor(customKeyBytesMax / 3));
      const fits = text + 'x'.repeat(customKeyBytesMax - Buffer.byteLength(text));
      return atTheLimit({ note: fits }, { note: `${fits}x` }, 'custom.note', [/must be a text/, /2048 bytes/]);
    });
    it('customValuesMax', () => {
      const values = Array.from({ length: customValuesMax }, (_, at) => `v${at}`);
      return atTheLimit({ notes_0: values }, { notes_0: [...values, 'more'] }, 'custom.notes_0', [
        /at most 100 values/,
        /more than 100 values/,
      ]);
    });
    it('customBytesPerUserMax, of the values as JSON', () => {
      const full = Array.from({ length: 16 }, (_, at) => `${at}`.padStart(1000, 'x'));
      const lists = { notes_0: full, notes_1: full };
      const left = customBytesPerUserMax - Buffer.byteLength(JSON.stringify({ ...lists, notes_2: [''] }));
      const rest = (bytes: number): Json => ({ ...lists, notes_2: ['y'.repeat(bytes)] });
      return atTheLimit(rest(left), rest(left + 1), 'custom', [/at most 32768 bytes/, /at most 32768 bytes/]);
    });

    it('customAllowedValuesMax', async () => {
      const values = Array.from({ length: customAllowedValuesMax + 1 }, (_, at) => `v${at}`);
      await assertRefusal(await define({ name: 'allowed', allowed_values: values }), 'management.invalid_request', {
        kind: 'allowed_values',
        text: /items/,
      });
      assert.equal((await define({ name: 'allowed', allowed_values: values.slice(1) })).status, 201);
    });
    it('customClaimCharsMax', async () => {
      const claim = 'c'.repeat(customClaimCharsMax);
      await assertRefusal(await define({ name: 'claimed', claim: `${claim}c` }), 'management.invalid_request', {
        kind: 'claim',
        text: /characters/,
      });
      assert.equal((await define({ name: 'claimed', claim })).status, 201);
    });
    it('customAttributesPerTenantMax: the last is made, the next is 400 management.invalid_request, one deleted makes room', async () => {
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/custom-attributes?limit=200');
      for (let at = items.length; at < customAttributesPerTenantMax; at += 1) assert.equal((await define({ name: `n${at}` })).status, 201);
      await assertRefusal(await define({ name: 'one_more' }), 'management.invalid_request', {
        kind: 'name',
        text: `A tenant has at most ${customAttributesPerTenantMax} attributes.`,
      });
      await managed.call('DELETE', '/custom-attributes/claimed');
      assert.equal((await define({ name: 'one_more' })).status, 201);
    });
  });
}
