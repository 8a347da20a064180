import { healthEndpoints } from '../../protocol/http/health.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import type { Inspector } from './inspector.ts';
import { databaseBytes, readProcess } from './process-figures.ts';

/** One sample of the daemon: numbers by name. */
export type Sample = { minutes: number } & Record<string, number>;

/** Takes a sample under load. */
export async function sampleBusy(daemon: DaemonUnderTest, minutes: number): Promise<Sample> {
  const [figures, metrics] = await Promise.all([readProcess(daemon.pid), readMetrics(daemon)]);
  const lagMs = (metrics.get('nodejs_eventloop_lag_p99_seconds') ?? 0) * 1_000;
  return { minutes, ...figures, lagMs };
}

/** Takes a sample at rest, after a full collection: the remaining objects stay forever. */
export async function sampleResting(
  { daemon, inspector }: { daemon: DaemonUnderTest; inspector: Inspector },
  minutes: number,
): Promise<Sample> {
  const { heapBytes, externalBytes, alive } = await inspector.liveMemory();
  const [figures, metrics, health, storedBytes] = await Promise.all([
    readProcess(daemon.pid),
    readMetrics(daemon),
    daemon.http.call(healthEndpoints.health, {}),
    databaseBytes(daemon.home),
  ]);
  return {
    minutes,
    ...figures,
    heapBytes,
    externalBytes,
    storedBytes,
    ...Object.fromEntries(Object.entries(alive).map(([kind, count]) => [`${kind}Alive`, count])),
    resources: metrics.get('nodejs_active_resources_total') ?? Number.NaN,
    streams: metrics.get('service_sse_connections_active') ?? Number.NaN,
    webSockets: metrics.get('service_gateway_connections_active') ?? Number.NaN,
    workstreams: health.workstreams.total,
  };
}

/** Every series without labels. */
async function readMetrics(daemon: DaemonUnderTest): Promise<Map<string, number>> {
  const text = await (await daemon.fetch('/metrics')).text();
  const lines = [...text.matchAll(/^(\w+) (\S+)$/gm)];
  return new Map(lines.map(([, name = '', value]) => [name, Number(value)]));
}
