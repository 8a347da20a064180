import type { UserBounds } from '../auth/lineage.ts';

/** For credentials below the operator. */
export const NO_USERS: UserBounds & { find(): undefined; versionOf(): undefined } = {
  boundsOf: () => undefined,
  endOf: () => AbortSignal.abort(),
  find: () => undefined,
  versionOf: () => undefined,
};
