/** Nobody has decided: a question was left unanswered for too long. */
export const isTimeOut = (feedback: string): boolean => feedback.startsWith('Approval timed out');
