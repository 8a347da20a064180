import type { CronEvent } from '../../protocol/cron.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Executor } from './executor.ts';
import type { BookSync } from './jobs/book-sync.ts';
import type { JobBook } from './jobs/job-book.ts';
import type { Lateness } from './lateness.ts';
import type { Ledger } from './ledger.ts';

export interface TransitionDeps {
  ledger: Ledger;
  executor: Executor;
  clock: Clock;
  log: Log;
  isAlone: boolean;
  settings: { readonly enabled: boolean };
  publish(event: CronEvent): void;
}

/** State that the transitions share. */
export interface TransitionContext {
  book: JobBook;
  sync: BookSync;
  lateness: Lateness;
}
