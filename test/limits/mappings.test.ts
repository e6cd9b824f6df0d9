// The limits of mapping rules, each at n and n+1: what a table may hold by the Management API, what rules may give by the rules themselves.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  mappedAttributesBytesMax,
  mappedClaimsBytesMax,
  mappingOnlyTextsMax,
  mappingPathCharsMax,
  mappingPlaceholdersMax,
  mappingPreviewDroppedMax,
  mappingRulesMax,
  mappingTextCharsMax,
  mappingValuesMax,
} from '../../src/contract/limits.ts';
import { compileRules } from '../../src/domain/mappings/apply.ts';
import { attributesOf } from '../../src/domain/mappings/attributes.ts';
import { claimsOf, claimsRoom, placesOf } from '../../src/domain/mappings/claims.ts';
import { inboundOf } from '../../src/domain/mappings/inbound.ts';
import { pathFault } from '../../src/domain/mappings/paths.ts';
import { previewRules } from '../../src/domain/mappings/preview.ts';
import { rulesFault } from '../../src/domain/mappings/rule-faults.ts';
import { databases } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`limits of mapping rules (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database);
      managed = await manageRootTenant(server);
    });
    after(() => server.close());
    const put = (rules: readonly Json[]): Promise<Response> => managed.call('PUT', '/mappings/oidc', { rules });
    async function atTheLimit(fits: readonly Json[], beyond: readonly Json[]): Promise<void> {
      const response = await put(fits);
      assert.equal(response.status, 200, await response.text());
      await assertRefusal(await put(beyond), 'management.invalid_request', { kind: 'rules', text: /./ });
      assert.equal((await put([])).status, 200);
    }
    const many = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at));
    const rules = (count: number): Json[] => many(count, (at) => ({ to: `c${at}`, value: at }));
    const only = (count: number): Json => ({ to: 'x', from: 'groups', only: { prefix: many(count, (at) => `p${at}`) } });
    const values = (count: number): Json => ({ to: 'x', from: 'groups', values: Object.fromEntries(many(count, (at) => [`v${at}`, 'x'])) });
    const constants = (count: number): Json => ({ to: 'x', value: many(count, (at) => at) });
    const template = (count: number): Json => ({ to: 'x', from: 'groups', template: '{value}'.repeat(count) });
    const text = (chars: number): Json => ({ to: 'x', value: 'x'.repeat(chars) });

    it('mappingRulesMax', () => atTheLimit(rules(mappingRulesMax), rules(mappingRulesMax + 1)));
    it('mappingOnlyTextsMax', () => atTheLimit([only(mappingOnlyTextsMax)], [only(mappingOnlyTextsMax + 1)]));
    it('mappingValuesMax, of what values become', () => atTheLimit([values(mappingValuesMax)], [values(mappingValuesMax + 1)]));
    it('mappingValuesMax, of constants', () => atTheLimit([constants(mappingValuesMax)], [constants(mappingValuesMax + 1)]));
    it('mappingPlaceholdersMax', () => atTheLimit([template(mappingPlaceholdersMax)], [template(mappingPlaceholdersMax + 1)]));
    it('mappingTextCharsMax', () => atTheLimit([text(mappingTextCharsMax)], [text(mappingTextCharsMax + 1)]));
  });
}

const facts = { person: undefined, clientId: 'app', tenantSlug: 'main', acr: undefined };

describe('limits of rules for people from other providers', () => {
  const fault = (chars: number) => rulesFault('inbound', [{ to: 'title', from: `upstream.${'x'.repeat(chars - 'upstream.'.length)}` }]);
  it('mappingPathCharsMax', () => {
    assert.equal(fault(mappingPathCharsMax), undefined);
    assert.match(fault(mappingPathCharsMax + 1) ?? '', /from: must be a path of 1 to/);
  });
  it('mappingRulesMax', () => {
    const rules = (count: number) => Array.from({ length: count }, () => ({ to: 'title', from: 'upstream.x' }));
    assert.equal(rulesFault('inbound', rules(mappingRulesMax)), undefined);
    assert.match(rulesFault('inbound', rules(mappingRulesMax + 1)) ?? '', /at most/);
  });
  it('mappedClaimsBytesMax, of names and values', () => {
    const give = (chars: number) =>
      inboundOf(compileRules([{ to: 'title', from: 'upstream.x', apply: 'always' }]), { ...facts, upstream: { x: 'x'.repeat(chars) } });
    const most = mappedClaimsBytesMax - 'title'.length;
    assert.deepEqual([give(most).spilled, give(most).always['title']?.length], [[], 1]);
    assert.deepEqual(give(most + 1), { create: {}, always: {}, spilled: ['title'] });
  });
});

describe('limits of what mapping rules give', () => {
  it('mappingPathCharsMax', () => {
    assert.match(pathFault('x'.repeat(mappingPathCharsMax)) ?? '', /is not known/);
    assert.match(pathFault('x'.repeat(mappingPathCharsMax + 1)) ?? '', /must be a path of 1 to/);
  });
  it('mappedClaimsBytesMax, of JSON with its names, for all rules together', () => {
    const around = Buffer.byteLength('"a":"é",') + Buffer.byteLength('"b":"",');
    const give = (chars: number) =>
      claimsOf(
        compileRules([
          { to: 'a', value: 'é' },
          { to: 'b', value: 'x'.repeat(chars) },
          { to: 'c', value: 1 },
        ]),
        facts,
      );
    assert.deepEqual(give(mappedClaimsBytesMax - around).spilled, ['c']);
    const { claims, spilled } = give(mappedClaimsBytesMax - around + 1);
    assert.deepEqual([claims, spilled], [{ a: 'é', c: 1 }, ['b']]);
  });
  it('mappedAttributesBytesMax, of names and values', () => {
    const give = (chars: number) => attributesOf(compileRules([{ to: 'é', value: ['ü', 'x'.repeat(chars)] }]), facts);
    assert.deepEqual(give(mappedAttributesBytesMax - 4).spilled, []);
    assert.deepEqual(give(mappedAttributesBytesMax - 3), { attributes: [], spilled: ['é'] });
  });
  it('mappingPreviewDroppedMax', () => {
    const dropped = (count: number) => {
      const value = Array.from({ length: count }, (_, at) => at);
      const rules = compileRules([{ to: 'x', value, only: { equals: ['none'] } }]);
      return [...previewRules(rules, facts, claimsRoom, placesOf)][0]?.dropped?.length;
    };
    assert.equal(dropped(mappingPreviewDroppedMax), mappingPreviewDroppedMax);
    assert.equal(dropped(mappingPreviewDroppedMax + 1), mappingPreviewDroppedMax);
  });
});
