export const DENIED_BY_USER = 'Denied by user';
export const APPROVAL_TIMED_OUT = 'Approval timed out';
export const NOBODY_TO_APPROVE = 'Not run: nobody is there to approve it';

/** How results begin of calls that a person, a deadline or a policy refused. */
const DENIALS = [DENIED_BY_USER, APPROVAL_TIMED_OUT, NOBODY_TO_APPROVE, 'Blocked'];

/** Nobody has decided: a question was left unanswered for too long. */
export const isTimeOut = (feedback: string): boolean => feedback.startsWith(APPROVAL_TIMED_OUT);

export const isDenial = (output: string): boolean => DENIALS.some((words) => output.startsWith(words));
