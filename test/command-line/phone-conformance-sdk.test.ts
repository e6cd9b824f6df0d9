// `gatehouse phone conformance --driver`: our SDK's Node and browser adapters hold every rule; drivers that lie or forget do not, so that
// the rules cannot be passed by saying so.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Verdict } from '../../src/cli/conformance/report.ts';
import { startBrowserHost } from '../support/browser-host.ts';
import { hasChromium } from '../support/chromium.ts';
import { runGatehouse } from '../support/conformance.ts';

const node = `exec "${process.execPath}" --disable-warning=ExperimentalWarning`;
const run = async (driver: string, { only, ...environment }: Readonly<Record<string, string>> = {}) => {
  const args = ['phone', 'conformance', '--json', '--driver', `${node} ${driver}`, ...(only === undefined ? [] : ['--only', only])];
  const { code, out, error } = await runGatehouse(args, environment);
  const verdicts = (JSON.parse(out === '' ? '{"verdicts":[]}' : out) as { readonly verdicts: readonly Verdict[] }).verdicts;
  return { code, error, verdicts, failed: verdicts.filter(({ passed }) => !passed) };
};
const rules = 56;

describe('phone conformance of an SDK', () => {
  it('the Node adapter holds every rule', async () => {
    const { code, error, verdicts, failed } = await run('sdk/driver/node.ts');
    assert.deepEqual([code, failed, verdicts.length], [0, [], rules], error);
  });

  if (hasChromium)
    it('the browser adapter holds every rule', async () => {
      const host = await startBrowserHost();
      try {
        const { code, error, verdicts, failed } = await run('test/support/browser-driver.ts', { GATEHOUSE_TEST_BROWSER: host.url });
        assert.deepEqual([code, failed, verdicts.length], [0, [], rules], error);
      } finally {
        await host.close();
      }
    });

  it('a driver that says yes to everything holds none', async () => {
    const { code, verdicts } = await run('test/support/broken-drivers.ts liar');
    assert.deepEqual([code, verdicts.filter(({ passed }) => passed), verdicts.length], [1, [], rules]);
  });

  it('a phone that forgets when it dies fails the rules about that, and those alone', async () => {
    const { code, verdicts, failed } = await run('test/support/broken-drivers.ts forgetful', { only: 'enroll' });
    assert.equal(verdicts.length > 5, true);
    assert.deepEqual(
      [code, failed.map(({ rule }) => rule)],
      [1, ['enroll: killed before the request', 'enroll: killed before the answer']],
    );
    assert.match(failed[0]!.found!, /./);
  });

  it('--only that names no rule, neither --link nor --driver, and both, are wrong calls', async () => {
    for (const [args, says] of [
      [['--driver', 'true', '--only', 'nothing'], 'gatehouse: --only: expected a part of a rule’s name, found nothing'],
      [[], 'gatehouse: expected --link <url> or --driver <command>, one of them'],
      [['--driver', 'true', '--link', 'x'], 'gatehouse: expected --link <url> or --driver <command>, one of them'],
    ] as const) {
      const { code, error } = await runGatehouse(['phone', 'conformance', ...args]);
      assert.deepEqual([code, error.trim()], [2, says]);
    }
  });
});
