import type { StopReason } from '../stop-reason.ts';
import type { ToolOutcome } from './tool.ts';

/** The last line that the model reads from a stopped tool. */
export function toStopLine({ kind }: StopReason, timeoutSecs: number): string {
  switch (kind) {
    case 'timeout':
      return `[timed out after ${timeoutSecs} s]`;
    case 'cancel':
      return '[cancelled]';
    case 'failure':
      return '[stopped: the run cannot continue]';
    case 'shutdown':
      return '[stopped by shutdown]';
  }
}

/** A tool that exceeds its timeout has failed; every other stop comes from outside. */
export const outcomeOf = ({ kind }: StopReason): ToolOutcome['outcome'] =>
  kind === 'timeout' ? 'failed' : 'cancelled';
