import { readProcess } from '../../soak/process-figures.ts';
import { pause } from '../deadline.ts';
import { startBareServer } from './bare-server.ts';
import type { DaemonUnderTest } from './daemon.ts';

export interface Watched {
  /** Peak resident memory. */
  peakBytes: number;
  /** Response times of /health: 90th percentile and maximum. */
  healthP90Ms: number;
  healthMaxMs: number;
  /** Response times of an idle process meanwhile: 90th percentile. */
  bareP90Ms: number;
}

/** Measures a daemon from outside ten times a second during `work`. */
export async function watchDaemon<T>(daemon: DaemonUnderTest, work: Promise<T>): Promise<Watched & { result: T }> {
  const over = new AbortController();
  const watching = watch(daemon, over.signal);
  watching.catch(() => undefined); // thrown by `stop`
  try {
    return { result: await work, ...(await stop()) };
  } finally {
    await stop();
  }

  function stop(): Promise<Watched> {
    over.abort();
    return watching;
  }
}

async function watch(daemon: DaemonUnderTest, signal: AbortSignal): Promise<Watched> {
  await using bare = await startBareServer();
  const tookMs: number[] = [];
  const bareMs: number[] = [];
  let peakBytes = 0;
  while (!signal.aborted || tookMs.length === 0) {
    tookMs.push(await durationOf(() => daemon.get('/health')));
    bareMs.push(await durationOf(bare.ask));
    peakBytes = Math.max(peakBytes, (await readProcess(daemon.pid)).rssBytes);
    await pause(100);
  }
  return { peakBytes, healthP90Ms: p90Of(tookMs), healthMaxMs: Math.max(...tookMs), bareP90Ms: p90Of(bareMs) };
}

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return Math.round(performance.now() - begunMs);
}

const p90Of = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.9)] ?? 0;
