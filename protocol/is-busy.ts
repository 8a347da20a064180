import type { WorkstreamState } from './stream-events.ts';

const BUSY: Record<WorkstreamState, boolean> = {
  idle: false,
  error: false,
  thinking: true,
  running: true,
  attention: true, // waits for an approval
};

/** Whether a run is in progress. In a separate file from the schema, which would bring zod into the page. */
export const isBusy = (state: WorkstreamState): boolean => BUSY[state];
