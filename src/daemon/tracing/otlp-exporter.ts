import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';

interface ExporterDeps {
  /** Of the collector; with or without `/v1/traces`. */
  endpoint: string;
  fetch: typeof fetch;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
}

/** How long one batch may take. */
const SEND_MS = 10_000;

/**
 * Sends batches of spans as OTLP JSON. A batch that cannot be sent is dropped: spans are worth less than the memory that would
 * keep them. One line of the log says when that begins, and one when it ends.
 */
export function createOtlpExporter({ endpoint, fetch, clock, log }: ExporterDeps): SpanExporter {
  const url = toTracesUrl(endpoint);
  const closed = new AbortController();
  const sending = new Set<Promise<void>>();
  let dropped = 0;

  async function post(spans: readonly ReadableSpan[]): Promise<void> {
    const over = new AbortController();
    const until = AbortSignal.any([over.signal, closed.signal]);
    const late = () => over.abort(new Error('the collector took too long'));
    clock.sleep(SEND_MS, until).then(late, () => undefined);
    try {
      const body = JsonTraceSerializer.serializeRequest([...spans]);
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body ?? []), signal: until });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
    } finally {
      over.abort(new Error('over'));
    }
  }

  async function sendBatch(spans: readonly ReadableSpan[]): Promise<void> {
    try {
      await post(spans);
      if (dropped > 0) log.info({ dropped }, 'spans can be sent again');
      dropped = 0;
    } catch (err) {
      if (dropped === 0)
        log.warn({ err, host: new URL(url).host }, 'spans cannot be sent; they are dropped until that works again');
      dropped += spans.length;
    }
  }

  return {
    /** Always succeeds: the processor would only report what the log has. */
    export(spans, done: (result: ExportResult) => void) {
      const sent = sendBatch(spans).then(() => {
        sending.delete(sent);
        done({ code: ExportResultCode.SUCCESS });
      });
      sending.add(sent);
    },
    async forceFlush() {
      await Promise.all(sending);
    },
    async shutdown() {
      closed.abort(new Error('the daemon stops'));
    },
  };
}

function toTracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}
