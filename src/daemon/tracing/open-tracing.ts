import { hostname } from 'node:os';
import type { OpenTracing } from '../../tracing.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { nodeIdOf } from '../node-id.ts';

type TracingOptions = Pick<DaemonOptions, 'config' | 'home' | 'version' | 'clock' | 'log'>;

/** Loads OpenTelemetry only if config.json names a receiver for the spans. */
export async function openTracing(
  { config: { otel }, home, version, clock, log }: TracingOptions,
  send: typeof fetch,
): Promise<OpenTracing | undefined> {
  const { endpoint, sampleRatio } = otel;
  if (endpoint === undefined) return undefined;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  const service = { version, instanceId: nodeIdOf(home, hostname()) };
  return createOtlpTracing({ endpoint, sampleRatio, service, fetch: send, clock, log });
}
