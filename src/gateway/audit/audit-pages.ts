import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AuditOutcome } from '../../../protocol/methods/accounts/audit.ts';
import { OUTCOME_OF_AUDIT } from '../store/schema/user-schema.ts';
import type { Store } from '../store/store.ts';

export interface AuditFilter {
  action?: string | undefined;
  userId?: string | undefined;
  outcome?: AuditOutcome | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
}

interface Page {
  limit: number;
  offset: number;
  /** How many records are looked at in one turn of the event loop; the default takes a few milliseconds. */
  atOnce?: number;
}

interface Found {
  /** Newest first. */
  rows: { seq: number; body_json: string }[];
  total: number;
}

const AT_ONCE = 1_000;

/** Finds a page of the records, and how many there are. Does not hold up other work. */
export async function findAudit(
  db: Store['db'],
  filter: AuditFilter,
  { limit, offset, atOnce = AT_ONCE }: Page,
): Promise<Found> {
  const chosen = choose(db, filter);
  if (isIndexed(filter)) return { rows: await read(chosen, { limit, offset }), total: await count(chosen) };
  const { newest, oldest } = await ends(db);
  const found: Found = { rows: [], total: 0 };
  for (let upTo = newest; upTo >= oldest; upTo -= atOnce) {
    const some = chosen.where('seq', '<=', upTo).where('seq', '>', upTo - atOnce);
    const [before, here] = [found.total, await count(some)];
    found.total += here;
    const page = { limit: limit - found.rows.length, offset: Math.max(0, offset - before) };
    if (page.limit > 0 && page.offset < here) found.rows.push(...(await read(some, page)));
    await nextTurn();
  }
  return found;
}

/** Whether an index has the records of a filter in their order. */
const isIndexed = ({ action, userId, outcome, sinceMs, untilMs }: AuditFilter): boolean =>
  [sinceMs, untilMs].every((ms) => ms === undefined) &&
  [action, userId, outcome].filter((asked) => asked !== undefined).length <= 1;

/** Only what is asked for, so that an index alone can count. */
function choose(db: Store['db'], { action, userId, outcome, sinceMs, untilMs }: AuditFilter) {
  let chosen = db.selectFrom('audit');
  // Not by the index of times, which has no order by number.
  if (sinceMs !== undefined) chosen = chosen.where(sql<boolean>`+at_ms >= ${sinceMs}`);
  if (untilMs !== undefined) chosen = chosen.where(sql<boolean>`+at_ms <= ${untilMs}`);
  if (action !== undefined) chosen = chosen.where('action', '=', action);
  if (userId !== undefined) chosen = chosen.where('user_id', '=', userId);
  if (outcome !== undefined) chosen = chosen.where(sql.raw(OUTCOME_OF_AUDIT), '=', outcome);
  return chosen;
}

type Chosen = ReturnType<typeof choose>;

const read = (chosen: Chosen, { limit, offset }: Page): Promise<Found['rows']> =>
  chosen.select(['seq', 'body_json']).orderBy('seq', 'desc').limit(limit).offset(offset).execute();

async function count(chosen: Chosen): Promise<number> {
  const { total } = await chosen.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return total;
}

async function ends(db: Store['db']): Promise<{ newest: number; oldest: number }> {
  const [last, first] = (['desc', 'asc'] as const).map((order) =>
    db.selectFrom('audit').select('seq').orderBy('seq', order).limit(1).executeTakeFirst(),
  );
  return { newest: (await last)?.seq ?? 0, oldest: (await first)?.seq ?? 1 };
}
