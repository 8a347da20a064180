/** What is shown, and sent to the model, of calls that were not run. What it means is their outcome, never these words. */
export const DENIED_BY_USER = 'Denied by user';

export const deniedWith = (feedback: string): string =>
  feedback === '' ? DENIED_BY_USER : `${DENIED_BY_USER}: ${feedback}`;

export const nobodyToApprove = (why: string): string => `Not run: nobody is there to approve it, and ${why}.`;

export function timedOutAfter(waitedMs: number): string {
  const hours = waitedMs / 3_600_000;
  const text = hours === 1 ? '1 hour' : hours > 1 ? `${Math.round(hours)} hours` : `${Math.round(waitedMs / 1000)} s`;
  return `Approval timed out after ${text}`;
}

export const NOT_AS_APPROVED =
  'Not run: it is no longer what was approved (a file or the working directory changed meanwhile).';

export const outcomeUnknown = (feedback: string): string =>
  `Outcome unknown: Headgate stopped while this ran, and it was not run again.${feedback === '' ? '' : ` ${feedback}`}`;

export const CANCELLED_BY_USER = 'Cancelled by user';

export const RUN_HAD_ENDED = 'Not run: the run had ended';

/** Of a call that ran when its run ended; `why` is why it ended. */
export const unknownSince = (why: string): string => `${why}; its outcome is unknown`;
