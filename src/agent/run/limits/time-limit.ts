import type { Clock } from '../../../clock.ts';

const SLICE_MS = 1_000;

/** The time for the model to finish: a tenth of the limit, at most this. */
const MOST_TO_FINISH_MS = 60_000;

/** How long something may work. */
export interface TimeLimit {
  /** Whether only enough time is left for one more answer. */
  isShort(): boolean;
  /** It has ended. */
  end(): void;
}

interface Limited {
  limitMs: number;
  /** Whether the time does not count at present, such as while a person is asked. */
  stands(): boolean;
  onOver(): void;
  clock: Clock;
}

/** Counts down from now on. After a restart it begins anew. */
export function limitTime({ limitMs, stands, onOver, clock }: Limited): TimeLimit {
  const over = new AbortController();
  let leftMs = limitMs;
  const countDown = async () => {
    while (leftMs > 0) {
      const sliceMs = Math.min(leftMs, SLICE_MS);
      try {
        await clock.sleep(sliceMs, over.signal);
      } catch {
        return; // it has ended
      }
      if (!stands()) leftMs -= sliceMs;
    }
    onOver();
  };
  void countDown();
  return { isShort: () => leftMs <= Math.min(MOST_TO_FINISH_MS, limitMs / 10), end: () => over.abort('ended') };
}
