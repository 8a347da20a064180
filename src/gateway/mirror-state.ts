import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { GatewayServer } from './server.ts';
import type { Workstreams } from './workstreams/workstreams.ts';

/** The gauges: read from the parts themselves whenever somebody asks. */
export function mirrorState(
  metrics: Metrics,
  { health, workstreams, sockets }: { health: Health; workstreams: Workstreams; sockets: GatewayServer },
): void {
  metrics.mirror({
    build: () => health.summary(),
    uptimeSeconds: () => health.summary().uptimeSeconds,
    workstreams: () => health.summary().workstreams,
    contextUsedRatio: () => {
      const [latest] = workstreams.list().sort((a, b) => b.data.updatedMs - a.data.updatedMs);
      return (latest?.data.status()?.pct ?? 0) / 100;
    },
    gatewayConnections: () => sockets.connections,
    backend: () => health.summary().backend,
  });
}
