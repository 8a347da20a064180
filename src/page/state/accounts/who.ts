import type { Result } from '../../../../protocol/index.ts';

/** The caller as the daemon knows it, with its permissions. */
export type Who = Result<'auth.whoami'>;

/** Whether a user is logged in, and not the operator or an API token. */
export const isUser = (who: Who | undefined): boolean => who?.username !== undefined;
