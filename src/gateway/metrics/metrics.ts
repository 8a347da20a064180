import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { NudgeKind } from '../../agent/message.ts';
import { type ChannelMetrics, createChannelMetrics } from './channel-metrics.ts';
import { createJudgeMetrics, type JudgeMetrics } from './judge-metrics.ts';
import { type Load, observeLoad } from './load-metrics.ts';
import { type MachineFigures, observeMachines } from './machine-metrics.ts';
import { createGauges, type MirroredState } from './state-metrics.ts';
import { type LoadedWorkstreams, observeLoaded } from './workstream-metrics.ts';

/** The counters of the daemon and their Prometheus text. Labels come from our tables, never from a client. */
export interface Metrics extends JudgeMetrics, ChannelMetrics {
  /** `endpoint` is a row's path. */
  httpRequest(request: { method: string; endpoint: string; statusCode: number; seconds: number }): void;
  sseConnections(change: 1 | -1): void;
  sseCoalesced(): void;
  /** Counts a call through dispatch, from any transport. */
  request(method: string, outcome: ErrorCode | 'ok'): void;
  messageSent(): void;
  tokens(type: TokenType, count: number): void;
  toolCall(tool: string): void;
  /** Counts a reminder of its memory that a model got. */
  memoryNudge(kind: NudgeKind): void;
  /** Counts thoughts of a conversation that a provider left out. */
  thoughtsDropped(count: number): void;
  /** Counts an error that a workstream reported. */
  error(): void;
  rateLimited(): void;
  evicted(): void;
  /** Sets the source of the gauges; until then they are absent. */
  mirror(state: MirroredState): void;
  /** Adds the series that show how busy the daemon is. Call it once. */
  observeLoad(load: Load): void;
  /** Adds the series about the machines of a database. Call it once. */
  observeMachines(figures: MachineFigures): void;
  /** Adds the series of single workstreams. Call it once. */
  observeLoaded(workstreams: LoadedWorkstreams): void;
  /** Adds the standard process metrics: memory, CPU, handles, event loop lag. Call it once. */
  observeProcess(): void;
  /** The text exposition format, version 0.0.4. */
  text(): Promise<string>;
}

export type TokenType = 'prompt' | 'completion' | 'cache_creation' | 'cache_read';

export function createMetrics(): Metrics {
  const registry = new Registry();
  const counts = createCounters(registry);
  return {
    ...createHttpMetrics(registry),
    request(method, outcome) {
      counts.requests({ method, outcome });
      if (outcome === 'RATE_LIMITED') counts.rateLimited();
    },
    messageSent: counts.messages,
    tokens: (type, count) => counts.tokens({ type }, count),
    thoughtsDropped: counts.thoughtsDropped,
    ...createJudgeMetrics(registry),
    ...createChannelMetrics(registry),
    toolCall: (tool) => counts.tools({ tool }),
    memoryNudge: (kind) => counts.nudges({ kind }),
    error: counts.errors,
    rateLimited: counts.rateLimited,
    evicted: counts.evicted,
    mirror: (state) => createGauges(registry, state),
    observeLoad: (load) => observeLoad(registry, load),
    observeMachines: (figures) => observeMachines(registry, figures),
    observeLoaded: (workstreams) => observeLoaded(registry, workstreams),
    observeProcess: () => observeProcess(registry),
    text: () => registry.metrics(),
  };
}

/** The standard process metrics, except those whose series appear and disappear with open resources. */
function observeProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS });
  for (const name of ['resources', 'handles', 'requests']) registry.removeSingleMetric(`nodejs_active_${name}`); // the totals stay
  const pauses = registry.getSingleMetric('nodejs_gc_duration_seconds');
  // Initialised, because a kind of garbage collection that happens later would otherwise add a series.
  if (pauses instanceof Histogram) for (const kind of GC_KINDS) pauses.zero({ kind });
}

const GC_KINDS = ['major', 'minor', 'incremental', 'weakcb'];

/** Further label sets are folded into one, so that a mistake cannot fill the memory. Our tables have fewer. */
const MAX_LABEL_SETS = 1_000;
/** How often an idle daemon wakes to measure its lag. */
const LAG_RESOLUTION_MS = 20;
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Labels = Record<string, string>;

/** The counters for label sets with the same first values. */
interface Bound<B> {
  child?: B;
  below: Map<string | undefined, Bound<B>>;
}

/** Looks up a label set once, because prom-client would sort and join the labels at each use. */
function bindLabels<B>(names: readonly string[], bind: (labels: Labels) => B): (labels: Labels) => B {
  const root: Bound<B> = { below: new Map() };
  let size = 0;
  let others: B | undefined;
  const keep = (labels: Labels, child: B) => {
    let at = root;
    for (const name of names) {
      const next = at.below.get(labels[name]) ?? { below: new Map() };
      at.below.set(labels[name], next);
      at = next;
    }
    at.child = child;
    size += 1;
    return child;
  };
  return (labels) => {
    let at: Bound<B> | undefined = root;
    for (const name of names) at = at?.below.get(labels[name]);
    if (at?.child !== undefined) return at.child;
    if (size < MAX_LABEL_SETS) return keep(labels, bind(labels));
    others ??= bind(Object.fromEntries(names.map((name) => [name, 'other'])));
    return others;
  };
}

/** A counter with labels. It counts in plain numbers, which are added up at a scrape: in a cheap call, all else would cost more. */
function createLabelled(
  { registers }: { registers: Registry[] },
  { name, help, labelNames }: { name: string; help: string; labelNames: string[] },
): (labels: Labels, count?: number) => void {
  const counts: { labels: Labels; since: number }[] = [];
  const counter = new Counter({
    name,
    help,
    labelNames,
    registers,
    collect() {
      for (const count of counts) {
        counter.inc(count.labels, count.since);
        count.since = 0;
      }
    },
  });
  const countOf = bindLabels(labelNames, (labels) => {
    const count = { labels, since: 0 };
    counts.push(count);
    return count;
  });
  return (labels, count = 1) => {
    countOf(labels).since += count;
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];

  const plain = (name: string, help: string) => {
    const counter = new Counter({ name, help, registers });
    return (count = 1) => counter.inc(count);
  };
  const labelled = (name: string, help: string, labelNames: string[]) =>
    createLabelled({ registers }, { name, help, labelNames });

  const tokens = labelled('service_tokens_total', 'Tokens consumed', ['type']);
  for (const type of ['prompt', 'completion', 'cache_creation', 'cache_read']) tokens({ type }, 0);
  return {
    messages: plain('service_messages_sent_total', 'User messages dispatched'),
    tokens,
    thoughtsDropped: plain('service_thoughts_dropped_total', 'Thoughts that a provider left out of a conversation'),
    tools: labelled('service_tool_calls_total', 'Tool executions by name', ['tool']),
    nudges: labelled('service_memory_nudges_total', 'Reminders of their memory for models', ['kind']),
    errors: plain('service_errors_total', 'Errors reported by workstreams'),
    rateLimited: plain('service_ratelimit_rejected_total', 'Requests rejected by the rate limiter'),
    evicted: plain('service_workstreams_evicted_total', 'Workstreams unloaded at capacity'),
    requests: labelled('service_gateway_requests_total', 'Calls through dispatch', ['method', 'outcome']),
  };
}

function createHttpMetrics(registry: Registry): Pick<Metrics, 'httpRequest' | 'sseConnections' | 'sseCoalesced'> {
  const registers = [registry];
  const total = createLabelled(
    { registers },
    {
      name: 'service_http_requests_total',
      help: 'Requests handled',
      labelNames: ['method', 'endpoint', 'status_code'],
    },
  );
  const duration = new Histogram({
    name: 'service_http_request_duration_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['method', 'endpoint'],
    buckets: BUCKETS,
    registers,
  });
  const streams = new Gauge({ name: 'service_sse_connections_active', help: 'Open SSE connections', registers });
  const coalesced = new Counter({
    name: 'service_sse_coalesced_total',
    help: 'State frames of the global stream that were replaced by newer ones before they were sent',
    registers,
  });
  const durationOf = bindLabels(['method', 'endpoint'], (labels) => duration.labels(labels));
  // A scrape is counted after its text is created. Without these, the second scrape would have more series than the
  // first.
  total({ ...SCRAPE, status_code: '200' }, 0);
  duration.zero(SCRAPE);
  return {
    httpRequest({ method, endpoint, statusCode, seconds }) {
      const known = knownMethod(method);
      total({ method: known, endpoint, status_code: String(statusCode) });
      durationOf({ method: known, endpoint }).observe(seconds);
    },
    sseConnections: (change) => streams.inc(change),
    sseCoalesced: () => coalesced.inc(),
  };
}

const SCRAPE = { method: 'GET', endpoint: '/metrics' };

const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);
const knownMethod = (method: string): string => (HTTP_METHODS.has(method) ? method : 'other');
