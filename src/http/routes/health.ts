import { healthEndpoints } from '../../../protocol/http/health.ts';
import { bind } from '../bind.ts';

export const healthRoutes = [
  bind(healthEndpoints.health, 'health', {
    asDaemon: true,
    params: () => ({}),
    reply: ({
      status,
      version,
      nodeId,
      uptimeSeconds,
      model,
      workstreams,
      maxWorkstreams,
      backend,
      store,
      sandbox,
    }) => ({
      status,
      version,
      node_id: nodeId,
      uptime_seconds: uptimeSeconds,
      model,
      workstreams,
      max_ws: maxWorkstreams,
      backend: { status: backend.status, circuit_state: backend.circuitState },
      store,
      sandbox,
    }),
  }),
];
