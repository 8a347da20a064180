import type { WaitReason } from '../events/wait-reason.ts';
import type { StreamEventOf } from '../stream-events.ts';

/** A wait for a model, as clients show it. */
export type ModelWait = Omit<StreamEventOf<'wait_start'>, 'type'>;

/** What is waited for, and how long: `fast is at its rate limit. Next attempt in 12 s (2 of 6).` */
export function toWaitText(wait: ModelWait, nowMs: number): string {
  const leftSecs = Math.max(0, Math.ceil((wait.until_ms - nowMs) / 1_000));
  return toText(wait, leftSecs === 0 ? 'now' : `in ${toDuration(leftSecs)}`);
}

/** The same for output that does not change later: `… Next attempt at 14:23:05 (2 of 6).` */
export const toWaitLine = (wait: ModelWait): string =>
  toText(wait, `at ${new Date(wait.until_ms).toLocaleTimeString('en-GB')}`);

const toText = ({ reason, attempt, attempts, model_alias }: ModelWait, when: string): string =>
  `${model_alias} ${REASONS[reason]}. Next attempt ${when} (${attempt} of ${attempts}).`;

const REASONS: Record<WaitReason, string> = {
  rate_limited: 'is at its rate limit',
  overloaded: 'is overloaded',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  interrupted: 'broke off before its answer',
};

function toDuration(secs: number): string {
  if (secs < 60) return `${secs} s`;
  const rest = secs % 60;
  return `${Math.floor(secs / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}
