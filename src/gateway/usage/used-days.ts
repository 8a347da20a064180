import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../store/store.ts';

interface Days {
  /** Both are inclusive; default: all. */
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * The days on which something was used, newest first, with turns of the event loop in between: the usage of a year is too much to
 * be added up at once.
 */
export async function* usedDays(db: Store['db'], { from = '', to }: Days): AsyncGenerator<string> {
  const newest = db.selectFrom('usage').select('day').where('day', '>=', from).orderBy('day', 'desc').limit(1);
  let last = await (to === undefined ? newest : newest.where('day', '<=', to)).executeTakeFirst();
  while (last !== undefined) {
    yield last.day;
    await nextTurn();
    last = await newest.where('day', '<', last.day).executeTakeFirst();
  }
}
