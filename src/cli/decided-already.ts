import { RequestError } from '../../protocol/client/request-error.ts';

/** Whether a decision was refused because the question is decided; its run may have ended, too. The log shows who decided. */
export const isDecidedAlready = (error: unknown): boolean =>
  error instanceof RequestError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');
