import { Claims } from './claims.ts';
import { Ends } from './ends.ts';
import { BookSync } from './jobs/book-sync.ts';
import { Changes } from './jobs/changes.ts';
import type { JobBook } from './jobs/job-book.ts';
import { Lateness } from './lateness.ts';
import type { TransitionContext, TransitionDeps } from './transition-deps.ts';

/**
 * The steps that change a job. Each is one transaction of the ledger, and the book is updated after the commit. Calls
 * for the same job run one after another.
 */
export interface Transitions extends Omit<TransitionContext, 'book'> {
  changes: Changes;
  claims: Claims;
  ends: Ends;
}

export function createTransitions(deps: TransitionDeps, book: JobBook): Transitions {
  const sync = new BookSync(deps, book);
  const lateness = new Lateness(deps.clock, book);
  const at: TransitionContext = { book, sync, lateness };
  return {
    sync,
    lateness,
    changes: new Changes(deps, at),
    claims: new Claims(deps, at),
    ends: new Ends(deps, at),
  };
}
