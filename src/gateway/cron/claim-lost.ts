import { UnitRefused } from '../store/store.ts';
import { CLAIM } from './occurrence-rows.ts';

/** What was to be begun was refused because the claim has gone to somebody else, or was begun already. */
export function isClaimLost(error: unknown): boolean {
  if (error instanceof UnitRefused) return error.tag === CLAIM;
  return error instanceof Error && error.cause !== undefined && isClaimLost(error.cause); // as a run says it
}
