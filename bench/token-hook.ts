// P11: what a hook that answers after 5 ms adds to a token request, on one connection, against the same request without it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGatehouse } from './process.ts';
import { atMost, type Bench, interleave, median } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const requests = 200;
const answerAfterMs = 5;

export const tokenHook: Bench = async () => {
  const hook = createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.writeHead(204).end(), answerAfterMs));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const gatehouse = await startGatehouse(undefined, { GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8' });
  try {
    const plain = await createTenant(gatehouse, 'plain');
    const hooked = await createTenant(gatehouse, 'hooked');
    const token = await managementToken(hooked);
    const { port } = hook.address() as AddressInfo; // listening on TCP
    const body = { point: 'token', url: `http://127.0.0.1:${port}/`, on_failure: 'refuse' };
    await call(`${hooked.managementApi}/hooks`, token, 'POST', body);
    const contenders = { plain: () => latency(plain), hooked: () => latency(hooked) };
    await interleave(1, contenders); // warm-up
    const { plain: without, hooked: beside } = await interleave(rounds, contenders);
    return [
      {
        ...atMost('P11', 'token with a 5 ms hook adds', beside.p50Ms - without.p50Ms, 'ms', 8),
        more: { without_p50_ms: without.p50Ms, with_p50_ms: beside.p50Ms },
      },
    ];
  } finally {
    await gatehouse.stop();
    hook.closeAllConnections();
    await new Promise((resolve) => hook.close(resolve));
  }
};

async function latency(tenant: BenchTenant): Promise<{ readonly p50Ms: number }> {
  const times: number[] = [];
  for (let index = 0; index < requests; index += 1) {
    const fromMs = performance.now();
    await managementToken(tenant);
    times.push(performance.now() - fromMs);
  }
  return { p50Ms: median(times) };
}
