import type { Registry } from 'prom-client';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { WorkstreamState } from '../../../protocol/stream-events.ts';
import { figuresOf, type ServerFigures } from '../../agent/mcp/catalog/server-figures.ts';
import type { ToolServers } from '../../agent/mcp/tool-servers.ts';
import type { Health } from '../health.ts';
import type { LiveSettings } from '../live-settings.ts';
import { gaugesIn } from './gauges.ts';

/** State that the gauges read from other parts. */
export interface MirroredState {
  build(): { version: string; model: string };
  uptimeSeconds(): number;
  /** The number of loaded workstreams in each state. */
  workstreams(): Record<WorkstreamState, number>;
  /** The last known used fraction of a context window, 0 to 1. */
  contextUsedRatio(): number;
  gatewayConnections(): number;
  isJudgeEnabled(): boolean;
  backend(): { status: 'up' | 'down'; circuitState: keyof typeof CIRCUIT };
  store(): Pick<HealthSummary['store'], 'status'>;
  toolServers(): ServerFigures;
}

interface MirroredParts {
  live: Pick<LiveSettings, 'judge'>;
  health: Pick<Health, 'summary' | 'here'>;
  workstreams: { list(): { data: { updatedMs: number; status(): { pct: number } | undefined } }[] };
  sockets: { readonly connections: number };
  toolServers: Pick<ToolServers, 'list'>;
}

/** Reads the gauges' state from its sources at each scrape. */
export const stateOf = ({ live, health, workstreams, sockets, toolServers }: MirroredParts): MirroredState => ({
  build: () => health.summary(),
  uptimeSeconds: () => health.summary().uptimeSeconds,
  workstreams: () => health.here().workstreams,
  contextUsedRatio: () => {
    const [latest] = workstreams.list().sort((a, b) => b.data.updatedMs - a.data.updatedMs);
    return (latest?.data.status()?.pct ?? 0) / 100;
  },
  gatewayConnections: () => sockets.connections,
  isJudgeEnabled: () => live.judge.enabled,
  backend: () => health.summary().backend,
  store: () => health.summary().store,
  toolServers: () => figuresOf(toolServers.list()),
});

const CIRCUIT = { closed: 0, open: 1, half_open: 2 } as const;

/** Adds the gauges that show the state of the daemon. Call it once. */
export function createGauges(registry: Registry, state: MirroredState): void {
  const { gauge, labelled } = gaugesIn(registry);
  const byState = () => {
    const counts = state.workstreams();
    return WorkstreamState.options.map((name): [{ state: string }, number] => [{ state: name }, counts[name]]);
  };
  const total = () => byState().reduce((sum, [, count]) => sum + count, 0);

  labelled('service_build_info', 'Always 1', { labels: ['version', 'model'], read: () => [[state.build(), 1]] });
  gauge('service_uptime_seconds', 'Seconds since start', state.uptimeSeconds);
  gauge('service_workstreams_active_total', 'Loaded workstreams', total);
  labelled('service_workstreams_by_state', 'Loaded workstreams per state', { labels: ['state'], read: byState });
  gauge('service_context_window_used_ratio', 'Last known fraction of a context window', state.contextUsedRatio);
  gauge('service_judge_enabled', '1: calls that need approval are rated', () => (state.isJudgeEnabled() ? 1 : 0));
  gauge('service_backend_up', '1 up, 0 down', () => (state.backend().status === 'up' ? 1 : 0));
  gauge('service_store_up', '1 up, 0: writes are refused or stored data is damaged', () =>
    state.store().status === 'ok' ? 1 : 0,
  );
  gauge('service_circuit_state', '0 closed, 1 open, 2 half open', () => CIRCUIT[state.backend().circuitState]);
  gauge('service_gateway_connections_active', 'Open WebSockets', state.gatewayConnections);
  gauge('service_mcp_servers', 'Tool servers that are not disabled', () => state.toolServers().servers);
  gauge('service_mcp_server_errors', 'Those of them that cannot be used now', () => state.toolServers().failed);
  gauge('service_mcp_resources', 'Resources that tool servers offer', () => state.toolServers().resources);
  gauge('service_mcp_prompts', 'Prompts that tool servers offer', () => state.toolServers().prompts);
}
