// A program written with UnboundID's SCIM 2 SDK (test/interop/judges/unboundid): all it asks for works, typed as its classes are.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { findJudge } from '../support/judge-binaries.ts';
import { directories, startScim } from '../support/scim.ts';

const unboundid = findJudge('unboundid');

for (const directory of unboundid === undefined ? [] : directories)
  it(`UnboundID's SCIM SDK: 32 of 32 steps of ${directory}`, async () => {
    const scim = await startScim('sqlite', {}, directory);
    try {
      const { stdout } = await promisify(execFile)(unboundid!, [scim.base, scim.token]);
      const steps: readonly { readonly name: string; readonly failure?: string }[] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        steps.filter(({ failure }) => failure !== undefined),
        [],
      );
      assert.equal(steps.length, 32);
    } finally {
      await scim.close();
    }
  });
