import type { WorkstreamState } from './stream-events.ts';

const BUSY: Record<WorkstreamState, boolean> = {
  idle: false,
  error: false,
  thinking: true,
  running: true,
  attention: true, // a person's decision is awaited
};

/** Whether something goes on that a stop would stop. Apart from the schema, which would bring zod into the page. */
export const isBusy = (state: WorkstreamState): boolean => BUSY[state];
