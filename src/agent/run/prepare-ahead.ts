import { until } from '../../timing/until.ts';
import type { ToolCall } from '../message.ts';
import { type Clearing, clearAtOnce } from './approval/approval-need.ts';
import { type BatchCall, prepareCall } from './batch-call.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import type { RunContext } from './run-context.ts';

/** The calls of an answer before it is stored, and what lets them run if nobody has to be asked. */
export interface Ahead {
  prepared?: BatchCall[];
  cleared: Clearing;
}

/** Prepares the calls of an answer while the rest of it streams. */
export function prepareAhead(run: RunContext) {
  const begun = new Map<ToolCall, Promise<BatchCall>>();
  const begin = (call: ToolCall): Promise<BatchCall> => {
    const known = begun.get(call);
    if (known) return known;
    const preparing = prepareCall(run, call);
    begun.set(call, preparing);
    return preparing;
  };
  return {
    /** A call has arrived whole. Its answer may break off before anybody waits for it. */
    take(call: ToolCall): void {
      if (!run.progress.wrapUp) begin(call).catch(() => undefined);
    },
    /** The answer has ended. */
    async whole({ message: { toolCalls }, cut }: CollectedAnswer): Promise<Ahead> {
      if (toolCalls.length === 0 || cut || run.progress.wrapUp) return { cleared: UNCLEARED };
      try {
        const prepared = await until(Promise.all(toolCalls.map(begin)), run.signal);
        return { prepared, cleared: clearAtOnce(run, prepared) ?? UNCLEARED };
      } catch {
        return { cleared: UNCLEARED }; // after the answer was stored, a stop counts, and what is wrong is said
      }
    },
  };
}

const UNCLEARED: Clearing = { events: [], journal: [] };
