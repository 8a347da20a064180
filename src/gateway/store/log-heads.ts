import { MAX_BLOCK_EVENTS } from './compaction/block.ts';
import { iterateEvents } from './compaction/stored-events.ts';
import { DamagedRow, isIntactEvent } from './row-checksum.ts';
import type { Connection } from './sqlite/sqlite-connection.ts';
import type { Statement } from './store.ts';

interface Head {
  first: number;
  last: number;
}

/** The first and last offset of each log, as committed; read from the tables on first use. */
export interface LogHeads {
  bounds(wsId: string): Readonly<Head>;
  /** Records after a commit that the log now ends here. */
  advance(wsId: string, last: number): void;
  /** Discards cached values that may be wrong. */
  forget(wsId?: string): void;
  /** Records that a log begins after `through`. Use it in the transaction that removes the earlier events. */
  begin(wsId: string, through: number): Statement;
  /** Returns statements that store the ends that have changed, for at most `limit` logs, once each. */
  takeUnsaved(limit: number): Statement[];
}

interface LogHeadsDeps {
  connection: Connection;
  onDamage(error: DamagedRow): void;
  capacity?: number;
}

/** Caches at most `capacity` logs; others take one index lookup. */
export function createLogHeads({ connection, onDamage, capacity = 20_000 }: LogHeadsDeps): LogHeads {
  const heads = new Map<string, Head>();
  const unsaved = new Map<string, number>();

  const load = (wsId: string): Head => {
    const [mark] = connection.all('select "first", "last" from log_heads where ws_id = ?', [wsId]);
    const first = Number(mark?.first ?? 1);
    const head = { first, last: Math.max(Number(mark?.last ?? 0), findLast(wsId, first)) };
    if (heads.size >= capacity) heads.delete(heads.keys().next().value ?? '');
    heads.set(wsId, head);
    return head;
  };
  /**
   * The last offset, based on the newest intact row. Damaged rows after it keep their offsets, because clients that
   * have seen the first event with an offset would never request another one. A row can have many events, so its own
   * offset decides while it is possible.
   */
  const findLast = (wsId: string, first: number): number => {
    let [damaged, claimed] = [0, 0];
    const toLast = (intact: number) =>
      Math.min(Math.max(claimed, intact + damaged), intact + damaged * MAX_BLOCK_EVENTS);
    for (const row of iterateEvents(connection, NEWEST, [wsId])) {
      if (isIntactEvent(row)) return toLast(Number(row.offset));
      if (damaged++ === 0) onDamage(new DamagedRow(`the newest event of workstream ${wsId} is damaged`));
      claimed = Math.max(claimed, Number(row.offset) || 0);
    }
    return toLast(first - 1);
  };

  return {
    bounds: (wsId) => heads.get(wsId) ?? load(wsId),
    advance(wsId, last) {
      const head = heads.get(wsId);
      if (head) head.last = last;
      unsaved.set(wsId, last);
    },
    forget(wsId) {
      if (wsId === undefined) heads.clear();
      else heads.delete(wsId);
    },
    begin(wsId, through) {
      const { last } = heads.get(wsId) ?? load(wsId);
      return { sql: SAVE_FIRST, parameters: [wsId, through + 1, last] };
    },
    takeUnsaved(limit) {
      const taken = [...unsaved].slice(0, limit);
      for (const [wsId] of taken) unsaved.delete(wsId);
      return taken.map(([wsId, last]) => ({ sql: SAVE_LAST, parameters: [wsId, last, wsId] }));
    },
  };
}

const NEWEST = `select ws_id, "offset", body_json, created_ms, checksum from events where ws_id = ? order by "offset" desc`;
/** Stores where a log begins, and where it ends if nothing is stored of it. */
export const SAVE_FIRST = `insert into log_heads (ws_id, "first", "last") values (?, ?, ?)
  on conflict (ws_id) do update set "first" = excluded."first"`;
/** Skips a log that was deleted meanwhile. */
const SAVE_LAST = `insert into log_heads (ws_id, "first", "last")
  select ?, 1, ? where exists (select 1 from events where ws_id = ?)
  on conflict (ws_id) do update set "last" = excluded."last"`;
