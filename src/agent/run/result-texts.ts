/**
 * Result texts of calls that were not run, for people and the model. Code must check the outcome and never these words.
 */
export const DENIED_BY_USER = 'Denied by user';

export const deniedWith = (feedback: string): string =>
  feedback === '' ? DENIED_BY_USER : `${DENIED_BY_USER}: ${feedback}`;

export const nobodyToApprove = (why: string): string => `Not run: no approver was available, and ${why}.`;

export function timedOutAfter(waitedMs: number): string {
  const hours = waitedMs / 3_600_000;
  const text = hours === 1 ? '1 hour' : hours > 1 ? `${Math.round(hours)} hours` : `${Math.round(waitedMs / 1000)} s`;
  return `Approval timed out after ${text}`;
}

export const NOT_AS_APPROVED =
  'Not run: it no longer matches what was approved (a file or the working directory has changed).';

export const outcomeUnknown = (feedback: string): string =>
  `Outcome unknown: Headgate stopped while this ran, and it was not run again.${feedback === '' ? '' : ` ${feedback}`}`;

export const CANCELLED_BY_USER = 'Cancelled by user';

export const RUN_HAD_ENDED = 'Not run: the run had ended';

/** For a call that was running when its run ended; `why` is the reason of that end. */
export const unknownSince = (why: string): string => `${why}; its outcome is unknown`;
