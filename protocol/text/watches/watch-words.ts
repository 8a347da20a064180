import type { Watch } from '../../events/watch.ts';
import { spanWords } from '../background-words.ts';

const ENDS: Record<NonNullable<Watch['end']>, string> = {
  fired: 'fired',
  max_polls: 'all polls made',
  condition_error: 'condition error',
  not_allowed: 'not allowed',
  rights: 'its creator has lost the right',
  failed: 'could not be polled',
  cancelled: 'cancelled',
  reset: 'a new conversation began',
  closed: 'its workstream was closed',
};

type Told = Pick<Watch, 'active' | 'end' | 'interval_secs' | 'poll_count' | 'max_polls'>;

/** How a watch stands: `every 5 min, poll 3 of 100`. */
export function watchWords({ active, end, interval_secs: secs, poll_count: count, max_polls: most }: Told): string {
  const polls = `poll ${count} of ${most}`;
  return active === 1 ? `every ${spanWords(secs * 1_000)}, ${polls}` : `${end ? ENDS[end] : 'ended'}, ${polls}`;
}
