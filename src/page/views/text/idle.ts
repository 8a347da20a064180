import { systemTimers } from '../../../../protocol/client/timers.ts';

const waiting = new Set<() => void>();

/** Runs a slow job when the browser is idle. Returns a function that cancels it. */
export function whenIdle(job: () => void): () => void {
  waiting.add(job);
  if (waiting.size === 1) schedule();
  return () => waiting.delete(job);
}

function schedule(): void {
  // Safari has no idle callbacks: a short timer lets other work run first.
  if ('requestIdleCallback' in window) requestIdleCallback(runOne, { timeout: 1_000 });
  else systemTimers.after(30, runOne);
}

/** Runs one job at a time: two together would block the page too long. */
function runOne(): void {
  const [job] = waiting;
  if (!job) return;
  waiting.delete(job);
  job();
  if (waiting.size > 0) schedule();
}
