import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ModelWait } from '../../../protocol/text/wait-words.ts';

/** Whether the model is asked again later: a fold of the events of a workstream. */
export function followWaits(onStart: (wait: ModelWait) => void) {
  let current: ModelWait | undefined;
  return {
    get current() {
      return current;
    },
    read(event: StreamEvent): void {
      if (event.type === 'wait_start') onStart(event);
      if (event.type === 'wait_start') current = event;
      else if (ENDS.has(event.type)) current = undefined;
    },
    /** A snapshot was taken; the events after it follow. */
    reset(): void {
      current = undefined;
    },
  };
}

/** A daemon that died while it waited has reported no end of the wait. */
const ENDS: ReadonlySet<StreamEvent['type']> = new Set<StreamEvent['type']>(['wait_stop', 'stream_end', 'ws_state']);
