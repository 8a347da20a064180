import { readProcess } from '../../soak/process-figures.ts';
import { pause } from '../deadline.ts';
import type { DaemonUnderTest } from './daemon.ts';

export interface Watched {
  /** Resident memory at its highest. */
  peakBytes: number;
  /** How long /health took: nine of ten, and the slowest. */
  healthP90Ms: number;
  healthMaxMs: number;
}

/** Looks at a daemon from outside ten times a second while `work` goes on. */
export async function watchDaemon<T>(daemon: DaemonUnderTest, work: Promise<T>): Promise<Watched & { result: T }> {
  const over = new AbortController();
  const watching = watch(daemon, over.signal);
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
  const tookMs: number[] = [];
  let peakBytes = 0;
  while (!signal.aborted || tookMs.length === 0) {
    const begunMs = performance.now();
    await daemon.get('/health');
    tookMs.push(Math.round(performance.now() - begunMs));
    peakBytes = Math.max(peakBytes, (await readProcess(daemon.pid)).rssBytes);
    await pause(100);
  }
  tookMs.sort((a, b) => a - b);
  const healthP90Ms = tookMs[Math.floor(tookMs.length * 0.9)] ?? 0;
  return { peakBytes, healthP90Ms, healthMaxMs: tookMs.at(-1) ?? 0 };
}
