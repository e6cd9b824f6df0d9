// Names to addresses: what is remembered for how long, what comes before the DNS, and whose look-ups wait for whose.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { lookUpsAtOnceMax } from '../../src/contract/limits.ts';
import { createNameResolver, type NameResolverOptions, type ResolveName } from '../../src/platform/net/name-resolver.ts';
import { until } from '../support/deliveries.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';

describe('the resolver of names', () => {
  let dns: TestDns;
  let folder: string;
  let now = 0;
  before(async () => {
    dns = await startDns();
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
    writeFileSync(join(folder, 'hosts'), '127.0.0.9 Local.example alias # a comment\n::9 local.example\nnonsense other.example\n');
    writeFileSync(join(folder, 'resolv'), 'nameserver 192.0.2.1\nsearch ns.svc.example example\n');
  });
  after(async () => {
    await dns.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    dns.asked.length = 0;
    dns.silent.clear();
    dns.addresses.clear();
    dns.setTtl(60);
  });
  const open = (more: NameResolverOptions = {}): ResolveName =>
    createNameResolver({
      servers: [dns.address],
      hostsFile: join(folder, 'hosts'),
      resolvFile: join(folder, 'none'),
      nowMs: () => now,
      ...more,
    });
  const never = new AbortController().signal;
  const addressesOf = async (resolve: ResolveName, host: string, share = 'a', signal = never): Promise<readonly string[]> =>
    (await resolve(host, { share, signal })).map(({ address }) => address);
  const questions = (name: string): number => dns.asked.filter((one) => one === name).length / 2; // of both families

  for (const [ttl, kept] of [
    [0, 5],
    [4, 5],
    [60, 60],
    [300, 300],
    [3600, 300],
  ] as const)
    it(`a time to live of ${ttl} s: the answer is kept for ${kept} s`, async () => {
      const resolve = open();
      dns.setTtl(ttl);
      dns.addresses.set('hook.example', ['192.0.2.7']);
      assert.deepEqual(await addressesOf(resolve, 'Hook.example.'), ['192.0.2.7']);
      dns.addresses.set('hook.example', ['192.0.2.8']);
      now += kept * 1000 - 1;
      assert.deepEqual(await addressesOf(resolve, 'hook.example', 'b'), ['192.0.2.7']);
      now += 1;
      assert.deepEqual(await addressesOf(resolve, 'hook.example'), ['192.0.2.8']);
      assert.equal(questions('hook.example'), 2);
    });

  it('a failure is kept for 5 s', async () => {
    const resolve = open();
    assert.deepEqual(await addressesOf(resolve, 'late.example'), []);
    dns.addresses.set('late.example', ['192.0.2.7']);
    now += 4999;
    assert.deepEqual(await addressesOf(resolve, 'late.example'), []);
    now += 1;
    assert.deepEqual(await addressesOf(resolve, 'late.example'), ['192.0.2.7']);
  });

  it('/etc/hosts, localhost and the search list', async () => {
    const resolve = open({ resolvFile: join(folder, 'resolv') });
    assert.deepEqual(await addressesOf(resolve, 'LOCAL.example'), ['127.0.0.9', '::9']);
    assert.deepEqual(await addressesOf(resolve, 'alias'), ['127.0.0.9']);
    assert.deepEqual(await addressesOf(resolve, 'localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(await addressesOf(resolve, 'app.localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(dns.asked, []);
    dns.addresses.set('hook.ns.svc.example', ['192.0.2.7']);
    dns.addresses.set('hook.other.example', ['192.0.2.8']);
    assert.deepEqual(await addressesOf(resolve, 'hook'), ['192.0.2.7']);
    assert.deepEqual(await addressesOf(resolve, 'hook.other'), ['192.0.2.8']);
    assert.deepEqual(await addressesOf(resolve, 'other.example'), [], 'a line of /etc/hosts without an address says nothing');
  });

  it('lookUpsAtOnceMax: a share with that many unanswered waits behind its own, nobody else does; what is given up is withdrawn', async () => {
    const resolve = open();
    const names = Array.from({ length: lookUpsAtOnceMax + 1 }, (_, at) => `slow${at}.example`);
    for (const name of names) dns.silent.add(name);
    dns.addresses.set('hook.example', ['192.0.2.7']);
    const deadlines = names.map(() => new AbortController());
    const slow = names.map((name, at) => addressesOf(resolve, name, 'a', deadlines[at]!.signal));
    await until(() => names.slice(0, lookUpsAtOnceMax).every((name) => dns.asked.includes(name)));
    assert.deepEqual(await addressesOf(resolve, 'hook.example', 'b'), ['192.0.2.7'], 'of somebody else: at once');
    assert.equal(dns.asked.includes(names.at(-1)!), false);
    deadlines[0]!.abort();
    assert.deepEqual(await slow[0], []);
    await until(() => dns.asked.includes(names.at(-1)!));
    for (const deadline of deadlines) deadline.abort();
    assert.deepEqual(
      await Promise.all(slow),
      names.map(() => []),
    );
    dns.silent.clear();
    dns.addresses.set(names[0]!, ['192.0.2.9']);
    assert.deepEqual(await addressesOf(resolve, names[0]!), ['192.0.2.9'], 'what was given up is no answer');
  });

  it('those who ask for one name at once share a question, and one who gives up leaves it to the others', async () => {
    const resolve = open();
    dns.silent.add('slow.example');
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [first, second].map(({ signal }) => addressesOf(resolve, 'slow.example', 'a', signal));
    await until(() => dns.asked.length >= 2);
    first.abort();
    assert.deepEqual(await waiting[0], []);
    dns.silent.clear();
    dns.addresses.set('slow.example', ['192.0.2.7']);
    assert.deepEqual(await waiting[1], ['192.0.2.7'], 'by the next attempt of the same question');
  });
});
