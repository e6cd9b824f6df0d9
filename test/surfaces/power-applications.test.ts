// The graph of power of power-graph.test.ts, for what is about applications, APIs and receivers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ofTenant } from '../support/power-growth.ts';
import { isOfApplications, powerOf } from '../support/power-of.ts';

describe('the graph of power, applications', () => {
  const power = powerOf((needs) => needs.length === 1 && needs.every(isOfApplications));

  for (const capability of ofTenant.filter(isOfApplications)) it(`${capability} alone`, async () => power.nobodyGrows([capability]));

  it('webhooks:write with what webhooks tell', async () => {
    const { judged: made } = power.writes().find(({ name }) => name === 'POST /webhooks')!; // judged above
    assert.ok(made.needs.length > 1);
    await power.nobodyGrows(made.needs);
  });

  power.eachWasDone();
});
