import type { StopReason } from '../stop-reason.ts';

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
