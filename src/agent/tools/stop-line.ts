import type { StopReason } from '../stop-reason.ts';
import type { ToolOutcome } from './tool.ts';

/** The last line of what a stopped tool tells the model. */
export function toStopLine({ kind }: StopReason, timeoutSecs: number): string {
  switch (kind) {
    case 'timeout':
      return `[timed out after ${timeoutSecs} s]`;
    case 'cancel':
      return '[cancelled]';
    case 'failure':
      return '[stopped: the run cannot go on]';
    case 'shutdown':
      return '[stopped by shutdown]';
  }
}

/** A tool that takes too long has failed; everything else stops it from outside. */
export const outcomeOf = ({ kind }: StopReason): ToolOutcome['outcome'] =>
  kind === 'timeout' ? 'failed' : 'cancelled';
