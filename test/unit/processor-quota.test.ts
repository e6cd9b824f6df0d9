// `--workers auto`: the cores a container may use, by the files in which Linux tells them (cgroups version 2 and 1), copied from
// containers of both kinds.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { findQuota, usableCores } from '../../src/platform/processor-quota.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cgroup-'));
let made = 0;

/** A place with these groups and files. */
function place(groups: string, files: Readonly<Record<string, string>>) {
  made += 1;
  const root = join(folder, String(made));
  for (const [name, text] of Object.entries({ ...files, groups })) {
    mkdirSync(dirname(join(root, 'mounted', name)), { recursive: true });
    writeFileSync(join(root, 'mounted', name), text);
  }
  return { groupsFile: join(root, 'mounted', 'groups'), mountedAt: join(root, 'mounted') };
}

const docker1 = '9:name=systemd:/docker/f0\n2:cpuacct:/docker/f0\n1:cpu:/docker/f0\n0::/\n';

describe('the quota of a container', () => {
  after(() => rmSync(folder, { recursive: true }));

  const cases: readonly (readonly [what: string, groups: string, files: Readonly<Record<string, string>>, quota: number | undefined])[] = [
    ['version 2, in a namespace of its own', '0::/\n', { 'cpu.max': '150000 100000\n' }, 1.5],
    ['version 2, no quota', '0::/\n', { 'cpu.max': 'max 100000\n' }, undefined],
    ['version 2, the root of a machine, which has no file', '0::/\n', {}, undefined],
    [
      'version 2, the least of a service and the slices it is in',
      '0::/system.slice/gatehouse.service\n',
      { 'system.slice/cpu.max': '200000 100000\n', 'system.slice/gatehouse.service/cpu.max': '400000 100000\n' },
      2,
    ],
    [
      'version 2, the path of the host, of which the container sees the root only',
      '0::/kubepods/pod1\n',
      { 'cpu.max': '300000 100000\n' },
      3,
    ],
    [
      'version 1, cpu and cpuacct in one hierarchy',
      '4:cpu,cpuacct:/docker/f0\n',
      { 'cpu,cpuacct/cpu.cfs_quota_us': '250000\n', 'cpu,cpuacct/cpu.cfs_period_us': '50000\n' },
      5,
    ],
    [
      'version 1, cpu in a hierarchy of its own',
      docker1,
      { 'cpu/docker/f0/cpu.cfs_quota_us': '100000\n', 'cpu/docker/f0/cpu.cfs_period_us': '100000\n' },
      1,
    ],
    [
      'version 1, no quota',
      docker1,
      { 'cpu/docker/f0/cpu.cfs_quota_us': '-1\n', 'cpu/docker/f0/cpu.cfs_period_us': '100000\n' },
      undefined,
    ],
    ['a file of something else', 'not groups\n', { 'cpu.max': '100000 100000\n' }, undefined],
  ];
  for (const [what, groups, files, quota] of cases)
    it(`${what}: ${quota ?? 'none'}`, () => assert.equal(findQuota(place(groups, files)), quota));

  it('no such files, as on other systems: the cores there are', () => {
    const nowhere = { groupsFile: join(folder, 'absent'), mountedAt: folder };
    assert.equal(findQuota(nowhere), undefined);
    assert.equal(usableCores(nowhere), availableParallelism());
  });

  it('whole cores, at least one and at most those there are', () => {
    const coresOf = (max: string): number => usableCores(place('0::/\n', { 'cpu.max': `${max} 100000\n` }));
    assert.deepEqual(['20000', '100000', '199999', '99900000'].map(coresOf), [1, 1, 1, availableParallelism()]);
    assert.equal(coresOf('200000'), Math.min(2, availableParallelism()));
  });
});
