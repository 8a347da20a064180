import { UnitRefused } from '../store/store.ts';

/** What was to be begun was refused because the claim has gone to somebody else, or was begun already. */
export function isClaimLost(error: unknown): boolean {
  if (error instanceof UnitRefused) return error.sql?.startsWith('update "cron_occurrences"') === true;
  return error instanceof Error && error.cause !== undefined && isClaimLost(error.cause); // as a run says it
}
