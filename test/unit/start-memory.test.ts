// What a start leaves behind is returned in the first quiet moment, and waiting for it keeps no process alive.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const file = join(import.meta.dirname, '..', '..', 'src', 'platform', 'start-memory.ts');

const run = (program: string): string => {
  const args = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', '--input-type=module-typescript', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 });
  assert.equal(status, 0, stderr);
  return stdout;
};

describe('memory of the start', () => {
  it('the young generation is small again once the process was quiet', () => {
    const sizes = JSON.parse(
      run(`
        import { getHeapSpaceStatistics } from 'node:v8';
        import { returnStartMemoryWhenQuiet } from ${JSON.stringify(file)};
        const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
        const kept = [];
        for (let index = 0; index < 400_000; index += 1) kept.push({ index, text: 'x' + index });
        const before = young();
        returnStartMemoryWhenQuiet();
        const started = Date.now();
        const timer = setInterval(() => {
          if (young() >= before / 2 && Date.now() - started < 100_000) return;
          clearInterval(timer);
          console.log(JSON.stringify({ before, after: young(), kept: kept.length }));
        }, 20);
      `),
    ) as { before: number; after: number };
    assert.ok(sizes.before > 4 * 1024 * 1024 && sizes.after < sizes.before / 2, JSON.stringify(sizes));
  });

  it('waiting keeps no process alive', () => {
    const program = `
      import { returnStartMemoryWhenQuiet } from ${JSON.stringify(file)};
      returnStartMemoryWhenQuiet();
      console.log(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length);
    `;
    assert.equal(run(program).trim(), '0');
  });
});
