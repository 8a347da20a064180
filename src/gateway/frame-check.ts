import type { z } from 'zod';
import { StreamEvent } from '../../protocol/stream-events.ts';
import type { EventLog } from './events/event-log.ts';

/** Checks a sample of outgoing frames against their rows, because clients silently drop invalid frames. */
export interface FrameCheck {
  /** Counts a frame; returns whether to check it. */
  isDue(): boolean;
  /** Reports an invalid frame, which is sent anyway. */
  inspect(what: string, row: z.ZodType, value: unknown): void;
}

interface FrameCheckOptions {
  /** Checks one of this many; 1 in tests. */
  every?: number | undefined;
  onInvalid(what: string, problem: z.ZodError): void;
}

export function createFrameCheck({ every = 64, onInvalid }: FrameCheckOptions): FrameCheck {
  let counted = 0;
  return {
    isDue() {
      counted += 1;
      return counted % every === 0;
    },
    inspect(what, row, value) {
      const parsed = row.safeParse(value);
      if (!parsed.success) onInvalid(what, parsed.error);
    },
  };
}

/** Some events of logs are checked, as some frames are. */
export function inspectAppended(events: Pick<EventLog, 'onAppended'>, check: FrameCheck): void {
  events.onAppended((_, entries) => {
    for (const { json } of entries) if (check.isDue()) check.inspect('workstream', StreamEvent, JSON.parse(json));
  });
}
