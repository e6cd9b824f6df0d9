// scim2-tester and scim-sanity, unmodified, as judges: they may find what the contract decides against them and nothing else
// (design 15): `active` cannot be removed, a member must be somebody, a manager.$ref is only there while the manager is, a PATCH
// of a group answers 204.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findJudge } from '../support/judge-binaries.ts';
import { directories, type ScimCaller, startScim } from '../support/scim.ts';

const run = promisify(execFile);
const python = findJudge('python3-scim');
const sanity = findJudge('scim-sanity');

for (const directory of python !== undefined && sanity !== undefined ? directories : [])
  describe(`SCIM testers of ${directory}`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim('sqlite', {}, directory);
    });
    after(() => scim.close());

    it('scim2-tester falls short only by what the contract decides', async () => {
      const script = fileURLToPath(new URL('judges/scim2-tester.py', import.meta.url));
      const { stdout } = await run(python!, [script, scim.base, scim.token], { maxBuffer: 16 * 1024 * 1024 });
      const results: readonly (readonly [string, string, string])[] = JSON.parse(stdout);
      assert.ok(results.filter(([status]) => status === 'SUCCESS').length > 80, `${results.length} checks`);
      const expected = [
        /^check_remove_attribute .*active cannot be removed/,
        /A member does not exist\.$/,
        /manager/i,
        /^check_replace_attribute Failed to replace attribute 'emails': A primary email is required/,
      ];
      const unexpected = results
        .filter(([status]) => status !== 'SUCCESS' && status !== 'SKIPPED' && status !== 'COMPLIANT' && status !== 'ACCEPTABLE')
        .map(([, title, reason]) => `${title} ${reason}`)
        .filter((text) => !expected.some((pattern) => pattern.test(text)));
      assert.deepEqual(unexpected, []);
    });

    it('scim-sanity falls short only by what the contract decides', async () => {
      const args = ['probe', scim.base, '--token', scim.token, '--i-accept-side-effects', '--json-output'];
      const { stdout } = await run(sanity!, args, { maxBuffer: 16 * 1024 * 1024 }).catch((error: { stdout: string }) => error); // exits 1 when it found something
      const { results } = JSON.parse(stdout) as { results: readonly { name: string; status: string; message: string }[] };
      assert.ok(results.length > 20);
      assert.deepEqual(
        results.filter(({ status }) => status === 'fail').map(({ name }) => name),
        ['PATCH /Groups/{id}', 'PATCH /Groups/{id} add member', 'PATCH /Groups/{id} remove members'],
      );
    });
  });
