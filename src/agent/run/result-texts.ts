import type { Ruling } from '../../../protocol/events/rules.ts';

type RulingReason = Ruling['reason'];

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

/** As the specification's system says it. */
export const blockedByPolicy = (tool: string): string => `Blocked by tool policy (pattern match for '${tool}')`;

/** Why a call that its job allows does not run unattended. */
export const policyAsks = (tool: string): string => `a tool policy wants a person to decide about ${tool}`;

/** The text of the rule is not told: it is the rule of a person, about more than this call. */
export const blockedByRule = (tool: string): string => `Blocked by permission rule (${tool})`;

export const BLOCKED_BY_MODE =
  'Blocked: this conversation is read-only, so only calls that change nothing run. Describe the change instead, or ask the person to change the mode.';

export const blockedByHook = (reason: string): string =>
  reason === '' ? 'Blocked by a hook' : `Blocked by a hook: ${reason}`;

/** Why a call that its job allows does not run unattended, by the reason of its question. */
export const WHY_ASKED: Partial<Record<RulingReason, string>> = {
  rule: 'a permission rule wants a person to decide about this call',
  unclear: 'a permission rule may forbid this call, which is not known completely before it runs',
  not_sandboxed: 'the call would run without a sandbox',
  protected:
    'the call changes what programs outside the sandbox run or obey (an allow rule for exactly this command, or for that path, would let it)',
  hosts: 'the call reaches hosts that nobody has allowed',
  tainted: 'the conversation has read untrusted content, so a person decides about calls that reach further',
};

/** Why a call runs outside the sandbox, if the agent wants that. */
export const askedFor = (reason: string): string => `the agent asks for it (“${reason}”)`;

export const NOT_AS_APPROVED =
  'Not run: it no longer matches what was approved (a file or the working directory has changed).';

export const outcomeUnknown = (feedback: string): string =>
  `Outcome unknown: Headgate stopped while this ran, and it was not run again.${feedback === '' ? '' : ` ${feedback}`}`;

export const CANCELLED_BY_USER = 'Cancelled by user';

export const RUN_HAD_ENDED = 'Not run: the run had ended';

/** For a call that was running when its run ended; `why` is the reason of that end. */
export const unknownSince = (why: string): string => `${why}; its outcome is unknown`;

/** For a call that had the same result so many times in the same run. */
export const repeatedInVain = (times: number): string =>
  `Not run: this run already made the same call ${times} times, with the same result. Do something else, or answer. To repeat it all the same, call it once more; a person is then asked.`;

export const NOBODY_FOR_REPEATS =
  'Not run: this run already made the same call several times, with the same result, and nobody is there to allow another one. Do something else, or answer.';

export const DENIED_BEFORE =
  'Denied by user: the same call was denied earlier in this run, so nobody is asked again. Change it, do something else, or answer.';

export const CUT_CALL =
  'Not run: your answer was cut off at the output limit during its tool calls. Call again with shorter arguments, such as a part of the file at a time.';
