// The dashboard and the alert rules that operators load, held to what a server shows: every metric they ask for is there, with the
// labels they ask by, and what must not be overlooked has an alert.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { createNodeMetrics } from '../../src/platform/workers/node-metrics.ts';
import { createTestTenant } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const read = (file: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'deploy', file), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string }[];
}

const rules: readonly Rule[] = parse(read('prometheus/alerts.yaml')).groups[0].rules;
const dashboard: { readonly uid: string; readonly panels: readonly Panel[] } = JSON.parse(read('grafana/gatehouse.json'));
const expressions = [...rules.map(({ expr }) => expr), ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];

describe('dashboard and alerts', () => {
  let server: TestServer;
  let text = '';
  before(async () => {
    server = await startTestServer('sqlite', { flags: { metrics_listen: '127.0.0.1:0' } });
    await createTestTenant(server);
    assert.equal((await fetch(`${server.url}/v1/idp/oidc/nowhere`)).status, 404);
    text = await (await fetch(server.gatehouse.metricsUrl!)).text();
    text += (await createNodeMetrics(async () => []).read()).text;
  });
  after(() => server.close());

  it('ask for metrics that a server or its supervisor shows', () => {
    const shown = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name!],
      ),
    );
    const asked = new Set(expressions.flatMap((expr) => expr.match(/\b(?:gatehouse|nodejs|process)_[a-z0-9_]+/g) ?? []));
    assert.ok(asked.size > 15);
    assert.deepEqual(
      [...asked].filter((name) => !shown.has(name)),
      [],
    );
  });
  it('how many deliveries are overdue is told in the first scrape', () => {
    assert.match(text, /^gatehouse_deliveries_overdue\{kind="\w+"\} 0$/m);
  });
  it('ask by labels that the metrics have', () => {
    const labels = new Set([...text.matchAll(/([a-z_]+)="/g)].map(([, label]) => label!));
    for (const label of ['reason', 'result', 'instance', 'job']) labels.add(label); // of what was not counted yet, and of Prometheus
    const asked = expressions.flatMap((expr) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/,\s*/)),
      ...[...expr.matchAll(/[{,]([a-z_]+)=~?"/g)].map(([, name]) => name!),
    ]);
    assert.deepEqual(
      asked.filter((label) => !labels.has(label)),
      [],
    );
  });
  it('what must not be overlooked has an alert that says what to do', () => {
    assert.deepEqual(
      rules.map(({ alert }) => alert),
      [
        'GatehouseAway',
        'GatehouseNotReady',
        'GatehouseConfigurationOld',
        'GatehouseReadOnly',
        'GatehouseErrors',
        'GatehouseSlow',
        'GatehouseDeliveriesLate',
        'GatehouseShedding',
        'GatehouseFlood',
        'GatehouseRestarts',
      ],
    );
    for (const { labels, annotations } of rules) {
      assert.match(labels.severity, /^(?:critical|warning)$/);
      assert.ok(annotations.summary.length > 20 && annotations.description.length > 20);
    }
  });
  it('panels have ids of their own and do not overlap', () => {
    const { panels } = dashboard;
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_none, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  });
});
