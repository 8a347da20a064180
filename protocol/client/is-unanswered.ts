import { ConnectionLostError, RequestError } from './request-error.ts';

/** Whether a call failed without an answer, so that it may have taken effect: the connection was lost, or the time was up. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ConnectionLostError || (error instanceof RequestError && error.code === 'TIMEOUT');
