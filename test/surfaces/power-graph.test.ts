// The graph of power (design 17, 2): nobody comes to hold, read or be more by what they may write. For every capability alone an actor
// tries every write of the tenant's own OpenAPI document, each property of its body by itself, towards people and things of others. What
// each write takes, and by which way somebody could grow by it, is judged in support/power-table.ts. Here how a tenant is;
// applications in power-applications.test.ts, people in power-people.test.ts, several capabilities in power-several.test.ts and
// power-pairs.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ofTenant } from '../support/power-growth.ts';
import { isOfApplications, isOfPeople, powerOf } from '../support/power-of.ts';
import { judged } from '../support/power-table.ts';

describe('the graph of power', () => {
  const power = powerOf((needs) => needs.length < 2 && !needs.some(isOfPeople) && !needs.some(isOfApplications));

  it('every write is judged, and nothing else', () => {
    assert.deepEqual(power.unjudged(), []);
    assert.equal(Object.keys(judged).length, power.writes().length);
    assert.ok(power.writes().length > 100);
  });

  for (const capability of ofTenant.filter((one) => !isOfPeople(one) && !isOfApplications(one)))
    it(`${capability} alone`, async () => power.nobodyGrows([capability]));

  power.eachWasDone();
});
