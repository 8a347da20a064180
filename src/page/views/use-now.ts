import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../protocol/client/timers.ts';

const STEP_MS = 1_000;

/** The current time in milliseconds since 1970, updated every second. */
export function useNow(now: () => number) {
  const current = useSignal(now());
  useEffect(() => {
    let cancel = systemTimers.after(STEP_MS, step);
    function step() {
      current.value = now();
      cancel = systemTimers.after(STEP_MS, step);
    }
    return () => cancel();
  }, [now, current]);
  return current;
}
