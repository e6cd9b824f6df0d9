// The alert rules and the panels' expressions as Prometheus reads them: its own promtool checks them, and fires each alert with figures
// that should and keeps it quiet with figures that should not.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { findJudge } from '../support/judge-binaries.ts';

const promtool = findJudge('promtool');
const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const rules = join(deploy, 'prometheus', 'alerts.yaml');

/** By alert: a series in Prometheus' notation of a minute a step that fires it, one that must not, and the minutes until it does. */
const cases: Readonly<
  Record<string, { readonly series: string; readonly fires: string; readonly quiet: string; readonly minutes: number }>
> = {
  GatehouseAway: { series: 'up{job="gatehouse"}', fires: '0x10', quiet: '1x10', minutes: 2 },
  GatehouseNotReady: { series: 'gatehouse_ready', fires: '0x10', quiet: '1x10', minutes: 2 },
  GatehouseConfigurationOld: { series: 'gatehouse_configuration_age_seconds', fires: '4x10', quiet: '3x10', minutes: 2 },
  GatehouseReadOnly: { series: 'gatehouse_database_read_only', fires: '1x10', quiet: '0x10', minutes: 2 },
  GatehouseErrors: { series: 'gatehouse_http_request_duration_seconds_count{status="5xx"}', fires: '0+2x20', quiet: '0+1x20', minutes: 15 },
  GatehouseSlow: { series: 'gatehouse_http_request_duration_seconds_bucket{le="1"}', fires: '0+90x20', quiet: '0+100x20', minutes: 15 },
  GatehouseDeliveriesLate: { series: 'gatehouse_oldest_delivery_seconds', fires: '61x10', quiet: '60x10', minutes: 4 },
  GatehouseShedding: { series: 'gatehouse_shed_total{reason="loop_lag"}', fires: '0+1x10', quiet: '7x10', minutes: 4 },
  GatehouseFlood: { series: 'gatehouse_refusals_summarised_total', fires: '0+660x20', quiet: '0+540x20', minutes: 15 },
  GatehouseRestarts: { series: 'gatehouse_worker_deaths_total', fires: '0 0 1x10', quiet: '3x12', minutes: 5 },
};
/** What else there is at the same time. */
const beside = [
  { series: 'gatehouse_http_request_duration_seconds_count{status="2xx"}', values: '0+100x20' },
  { series: 'gatehouse_http_request_duration_seconds_bucket{le="2.5"}', values: '0+100x20' },
  { series: 'gatehouse_http_request_duration_seconds_bucket{le="+Inf"}', values: '0+100x20' },
];

if (promtool !== undefined)
  describe('promtool', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-alerts-'));
    after(() => rmSync(folder, { recursive: true }));
    const judge = (...args: readonly string[]) => spawnSync(promtool, args, { encoding: 'utf8' });
    /** JSON is YAML. */
    const file = (name: string, content: object): string => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return join(folder, name);
    };

    it('takes every rule, and does find a mistake', () => {
      const { status, stdout, stderr } = judge('check', 'rules', rules);
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(stdout, new RegExp(`SUCCESS: ${Object.keys(cases).length} rules found`));
      writeFileSync(join(folder, 'wrong.yaml'), readFileSync(rules, 'utf8').replace('up{job="gatehouse"} == 0', 'up{job="gatehouse"'));
      assert.equal(judge('check', 'rules', join(folder, 'wrong.yaml')).status, 1);
    });

    it('takes the expression of every panel', () => {
      const { panels } = JSON.parse(readFileSync(join(deploy, 'grafana', 'gatehouse.json'), 'utf8')) as {
        readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
      };
      const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')));
      const recorded = expressions.map((expr, index) => ({ record: `panel_${index}`, expr }));
      const { status, stdout, stderr } = judge('check', 'rules', file('panels.yaml', { groups: [{ name: 'panels', rules: recorded }] }));
      assert.equal(status, 0, stderr);
      assert.match(stdout, new RegExp(`SUCCESS: ${expressions.length} rules found`));
    });

    for (const [alert, { series, fires, quiet, minutes }] of Object.entries(cases))
      for (const [what, values] of [
        ['fires', fires],
        ['keeps quiet', quiet],
      ] as const)
        it(`${alert} ${what} at ${series} ${values}`, () => {
          const tests = file(`${alert}.yaml`, {
            rule_files: [rules],
            tests: [
              {
                interval: '1m',
                input_series: [{ series, values }, ...beside],
                // Promtool compares labels and annotations whole; how many fire is what is asked here.
                promql_expr_test: [
                  {
                    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
                    eval_time: `${minutes}m`,
                    exp_samples: what === 'fires' ? [{ labels: '{}', value: 1 }] : [],
                  },
                ],
              },
            ],
          });
          const { status, stdout, stderr } = judge('test', 'rules', tests);
          assert.equal(status, 0, stdout + stderr);
        });
  });
