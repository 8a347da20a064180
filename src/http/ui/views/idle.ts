import { systemTimers } from '../../../../protocol/client/timers.ts';

/** A job is begun only with so much of an idle stretch left, so that it does not become a long task. */
const ENOUGH_MS = 20;

const waiting = new Set<() => void>();

/** Runs something that takes a while when nobody waits for the page; returns the way to call it off. */
export function whenIdle(job: () => void): () => void {
  waiting.add(job);
  if (waiting.size === 1) schedule();
  return () => waiting.delete(job);
}

function schedule(): void {
  // Safari has no idle callbacks: there one job runs at a time, with room for others in between.
  if ('requestIdleCallback' in window) requestIdleCallback(runSome, { timeout: 1_000 });
  else systemTimers.after(30, () => runSome());
}

function runSome(deadline?: IdleDeadline): void {
  for (const job of waiting) {
    waiting.delete(job);
    job();
    if (!deadline || deadline.timeRemaining() < ENOUGH_MS) break;
  }
  if (waiting.size > 0) schedule();
}
