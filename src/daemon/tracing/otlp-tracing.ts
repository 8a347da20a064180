import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { OpenTracing, Span, SpanAttributes, SpanStart, Traceparent, Tracing } from '../../tracing.ts';
import { createOtlpExporter } from './otlp-exporter.ts';

interface OtlpOptions {
  endpoint: string;
  /** The share of traces that are sent, 0 to 1. A caller's own decision takes precedence. */
  sampleRatio: number;
  service: { version: string; instanceId: string };
  fetch: typeof fetch;
  clock: Clock;
  log: Log;
}

/** Spans that wait to be sent; further ones are dropped. */
const MAX_WAITING = 2_048;
const BATCH_MS = 1_000;
const CLOSE_MS = 1_000;
/** Names that come from a model or a server could be long. */
const MAX_TEXT = 256;

/** Spans by OpenTelemetry's packages, sent to a collector. Only this file and the exporter know them. */
export function createOtlpTracing({ endpoint, sampleRatio, service, fetch, clock, log }: OtlpOptions): OpenTracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'headgate',
      'service.version': service.version,
      'service.instance.id': service.instanceId,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: createOtlpExporter({ endpoint, fetch, clock, log }),
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: BATCH_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('headgate', service.version);
  const inProgress = new AsyncLocalStorage<Traceparent>();
  const start = ({ name, kind, parent, attributes }: SpanStart): Span =>
    toSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes: toAttributes(attributes) }, contextOf(parent)));
  const tracing: Tracing = {
    start,
    within: (span, work) => inProgress.run(span.traceparent, work),
    current: () => inProgress.getStore(),
  };
  return {
    ...tracing,
    async close() {
      const over = new AbortController();
      const flushed = provider.shutdown().catch(() => undefined); // the exporter has logged it
      await Promise.race([flushed, clock.sleep(CLOSE_MS, over.signal).catch(() => undefined)]);
      over.abort('closed');
    },
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

function toSpan(span: OtelSpan): Span {
  return {
    traceparent: toTraceparent(span.spanContext()),
    end({ attributes = {}, error } = {}) {
      span.setAttributes(toAttributes(attributes));
      if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

const toAttributes = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'object' ? [...value] : value]],
    ),
  );

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): Traceparent =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** W3C Trace Context, version 00; a later version may have more fields behind it. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

function contextOf(parent: Traceparent | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
