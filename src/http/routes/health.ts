import { healthEndpoints } from '../../../protocol/http/health.ts';
import type { ChannelHealthRow } from '../../../protocol/methods/channels/channel.ts';
import { bind } from '../bind.ts';
import { iso } from '../iso.ts';

const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms));

const toChannel = ({
  channel,
  state,
  why = '',
  sinceMs,
  lastPollAtMs,
  lastInAtMs,
  lastOutAtMs,
  backlog,
  waiting,
}: ChannelHealthRow) => ({
  channel,
  state,
  why,
  since: iso(sinceMs),
  last_poll: isoOrNull(lastPollAtMs),
  last_in: isoOrNull(lastInAtMs),
  last_out: isoOrNull(lastOutAtMs),
  backlog,
  waiting,
});

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
      mcp,
      channels,
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
      mcp,
      channels: channels.map(toChannel),
    }),
  }),
  bind(healthEndpoints.history, 'health.history', {
    params: ({ step_minutes }) => (step_minutes === undefined ? {} : { stepMinutes: Number(step_minutes) }),
    fieldNames: { stepMinutes: 'step_minutes' },
    reply: ({ stepMinutes, samples }) => ({
      step_minutes: stepMinutes,
      samples: samples.map(({ atMs, lagMs, busy, storeMs = null, circuit, store }) => ({
        at: iso(atMs),
        lag_ms: lagMs,
        busy,
        store_ms: storeMs,
        circuit_state: circuit,
        store,
      })),
    }),
  }),
];
