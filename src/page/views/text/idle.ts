import { systemTimers } from '../../../../protocol/client/timers.ts';

const waiting = new Set<() => void>();

/** Runs something that takes a while when nobody waits for the page; returns the way to call it off. */
export function whenIdle(job: () => void): () => void {
  waiting.add(job);
  if (waiting.size === 1) schedule();
  return () => waiting.delete(job);
}

function schedule(): void {
  // Safari has no idle callbacks: there a job waits until others had their turn.
  if ('requestIdleCallback' in window) requestIdleCallback(runOne, { timeout: 1_000 });
  else systemTimers.after(30, runOne);
}

/** One at a time: two together would be a long task. */
function runOne(): void {
  const [job] = waiting;
  if (!job) return;
  waiting.delete(job);
  job();
  if (waiting.size > 0) schedule();
}
