import type { HealthSample, HealthSummary } from '../../protocol/methods/health.ts';
import type { Notice } from '../../protocol/notice.ts';
import type { WorkstreamState } from '../../protocol/stream-events.ts';
import { figuresOf } from '../agent/mcp/catalog/server-figures.ts';
import type { ToolServers } from '../agent/mcp/tool-servers.ts';
import type { BackendHealth } from '../agent/providers/model.ts';
import type { Clock } from '../clock.ts';
import type { ChannelHealth } from './channels/health/channel-health.ts';
import type { LiveSettings } from './live-settings.ts';
import type { HealthSamples } from './metrics/health-samples.ts';
import type { StoreHealth } from './store/store.ts';
import type { SessionList } from './workstreams/session-list.ts';

export interface HealthDeps {
  version: string;
  nodeId: string;
  models: {
    current(): { alias: string; modelId: string };
    health(): BackendHealth;
    notices(): Notice[];
  };
  /** Problems found at this start. */
  startNotices: readonly Notice[];
  store: { health(): StoreHealth };
  /** Why commands run without a sandbox; undefined when they run in one. */
  notSandboxed: string | undefined;
  live: Pick<LiveSettings, 'maxWorkstreams'>;
  states(): WorkstreamState[];
  /** Of the workers that have joined. */
  others(): readonly Served[];
  channels: Pick<ChannelHealth, 'look' | 'rows' | 'notices'>;
  toolServers: Pick<ToolServers, 'list'>;
  sessions: Pick<SessionList, 'known'>;
  /** Where sessions are stored, for people who ask. */
  storePath: string;
  heartbeats: { readonly everySeconds: number };
  /** Keeps what each look has found. */
  samples: Pick<HealthSamples, 'note' | 'list'>;
  /** Sends the summary to all clients that may see it. */
  publish(summary: HealthSummary): void;
  clock: Clock;
}

/** What a machine has to do. */
export interface Served {
  /** Loaded ones, per state. */
  workstreams: HealthSummary['workstreams'];
  /** How many it loads at most. */
  maxWorkstreams: number;
}

const RECENT = 5;
const REFRESH_MS = 60_000;
/** A change is published soon, but a flapping state is not published each time. */
const LOOK_MS = 2_000;

/**
 * The health of the daemon, with the workstreams of all machines. Nearly all values are available without waiting; the figures of chat services are as old as the
 * last look at them.
 */
export class Health {
  readonly #deps: HealthDeps;
  readonly #startedMs: number;
  #version = 1;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
    this.#startedMs = deps.clock.monotonic();
  }

  /** The number of refreshes: the `health` part of `stateVersion`. */
  version(): number {
    return this.#version;
  }

  /** With figures of chat services as they are now. */
  async current(): Promise<HealthSummary> {
    await this.#deps.channels.look();
    return this.summary();
  }

  /** The last day, oldest first. */
  history(stepMinutes: number): HealthSample[] {
    return this.#deps.samples.list(stepMinutes);
  }

  /** Of this machine alone. */
  here(): Served {
    return { workstreams: countStates(this.#deps.states()), maxWorkstreams: this.#deps.live.maxWorkstreams };
  }

  summary(): HealthSummary {
    const { version, nodeId, models, startNotices, store, notSandboxed, others, clock } = this.#deps;
    const begunMs = clock.monotonic();
    const backend = models.health();
    const stored = store.health();
    const { alias, modelId } = models.current();
    const channels = this.#deps.channels.rows();
    const { servers, resources, prompts } = figuresOf(this.#deps.toolServers.list());
    return {
      ok: true,
      ts: clock.now(),
      durationMs: Math.round(clock.monotonic() - begunMs),
      status: backend.status === 'up' && stored.status === 'ok' ? 'ok' : 'degraded',
      version,
      nodeId,
      uptimeSeconds: Math.round((clock.monotonic() - this.#startedMs) / 100) / 10,
      model: modelId,
      modelAlias: alias,
      ...others().reduce(together, this.here()),
      backend,
      store: stored,
      sandbox: { active: notSandboxed === undefined, ...(notSandboxed !== undefined && { reason: notSandboxed }) },
      mcp: { servers, resources, prompts },
      ...this.#forOldClients(clock.now()),
      channels,
      notices: [...startNotices, ...models.notices(), ...this.#deps.channels.notices()],
    };
  }

  /** Fields of earlier gateways that their clients still show. */
  #forOldClients(nowMs: number): Pick<HealthSummary, 'web' | 'telegram' | 'heartbeatSeconds' | 'sessions'> {
    const { sessions, storePath, heartbeats, channels } = this.#deps;
    const { count, newest } = sessions.known(RECENT);
    const recent = newest.map(({ sessionKey: key, updatedMs: updatedAt }) => {
      return { key, updatedAt, age: Math.max(0, nowMs - updatedAt) };
    });
    return {
      web: { linked: false },
      telegram: { configured: channels.rows().some(({ channel }) => channel === 'telegram') },
      heartbeatSeconds: heartbeats.everySeconds,
      sessions: { path: storePath, count, recent },
    };
  }

  /** Publishes a summary every minute, and soon after an important change. */
  async run(signal: AbortSignal): Promise<void> {
    let told = '';
    let toldMs = Number.NEGATIVE_INFINITY;
    let lateMs = 0;
    while (!signal.aborted) {
      const summary = await this.current();
      if (signal.aborted) return;
      const { status, backend, store, notices, model, channels } = summary;
      this.#deps.samples.note({ lateMs, circuit: backend.circuitState, store: store.status });
      const states = channels.map(({ channel, state }) => [channel, state]);
      const matters = JSON.stringify([status, backend, store, notices, model, states]);
      if (matters !== told || this.#deps.clock.monotonic() - toldMs >= REFRESH_MS) {
        told = matters;
        toldMs = this.#deps.clock.monotonic();
        this.#version += 1;
        this.#deps.publish(summary);
      }
      const sleptMs = this.#deps.clock.monotonic();
      await this.#deps.clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends
      lateMs = this.#deps.clock.monotonic() - sleptMs - LOOK_MS;
    }
  }
}

const together = (one: Served, other: Served): Served => ({
  workstreams: {
    total: one.workstreams.total + other.workstreams.total,
    idle: one.workstreams.idle + other.workstreams.idle,
    thinking: one.workstreams.thinking + other.workstreams.thinking,
    running: one.workstreams.running + other.workstreams.running,
    attention: one.workstreams.attention + other.workstreams.attention,
    error: one.workstreams.error + other.workstreams.error,
  },
  maxWorkstreams: one.maxWorkstreams + other.maxWorkstreams,
});

function countStates(states: WorkstreamState[]): HealthSummary['workstreams'] {
  const counts = { total: states.length, idle: 0, thinking: 0, running: 0, attention: 0, error: 0 };
  for (const state of states) counts[state] += 1;
  return counts;
}
