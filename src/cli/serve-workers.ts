// `gatehouse serve --workers`: the supervisor of several workers, each of which runs `gatehouse serve` itself. It owns the port, the
// signals, the ready line and the metrics, and opens no database.
import type { Config } from '../config.ts';
import { startMetricsServer } from '../http/operations/metrics-server.ts';
import type { Log } from '../platform/log.ts';
import { createNodeMetrics } from '../platform/workers/node-metrics.ts';
import { superviseWorkers } from '../platform/workers/supervisor.ts';

/** What a worker may take longer to end than it was given. */
const graceMs = 1000;

/** Serves until told to stop; gives the exit code. `drainMsMax`: what a worker may take after the drain delay. */
export async function serveByWorkers(config: Config, log: Log, stopAsked: Promise<unknown>, drainMsMax: number): Promise<number> {
  const metrics = createNodeMetrics(() => supervisor.readMetrics());
  const { metricsListen } = config;
  if (metricsListen !== undefined) log.info({ url: (await startMetricsServer(metrics, metricsListen)).url }, 'metrics are read here');
  const supervisor = superviseWorkers(config.workers, log, metrics.countDeath);
  void stopAsked.then(() => supervisor.stop(config.drainDelaySeconds * 1000, drainMsMax + graceMs));
  void supervisor.ready.then((publicUrl) => process.stdout.write(`gatehouse ready ${publicUrl}\n`));
  return supervisor.ended;
}
