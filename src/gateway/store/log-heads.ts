import { DamagedRow, isIntactEvent } from './row-checksum.ts';
import type { Connection } from './sqlite/sqlite-connection.ts';
import type { Statement } from './store.ts';

interface Head {
  first: number;
  last: number;
}

/** Where each log begins and ends, as committed; read from the tables when first asked for. */
export interface LogHeads {
  bounds(wsId: string): Readonly<Head>;
  /** After a commit: the log now ends here. */
  advance(wsId: string, last: number): void;
  /** What is known may be wrong: read again. */
  forget(wsId?: string): void;
  /** Records that a log begins behind `through`; belongs to the transaction that removes the events before. */
  begin(wsId: string, through: number): Statement;
  /** Records, for at most `limit` logs, the ends that have changed; once each. */
  takeUnsaved(limit: number): Statement[];
}

interface LogHeadsDeps {
  connection: Connection;
  onDamage(error: DamagedRow): void;
  capacity?: number;
}

/** Keeps at most `capacity` logs; the rest is one index look-up away. */
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
   * The last offset by the newest row that is intact. Damaged rows behind it keep their offsets: given a second time,
   * clients that have seen the first event would never ask for the other.
   */
  const findLast = (wsId: string, first: number): number => {
    let damaged = 0;
    for (const row of connection.iterateStored(NEWEST, [wsId])) {
      if (isIntactEvent(row)) return Number(row.offset) + damaged;
      if (damaged++ === 0) onDamage(new DamagedRow(`the newest event of workstream ${wsId} is not what was written`));
    }
    return first - 1 + damaged;
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
const SAVE_FIRST = `insert into log_heads (ws_id, "first", "last") values (?, ?, ?)
  on conflict (ws_id) do update set "first" = excluded."first"`;
/** Not of a log that was deleted meanwhile. */
const SAVE_LAST = `insert into log_heads (ws_id, "first", "last")
  select ?, 1, ? where exists (select 1 from events where ws_id = ?)
  on conflict (ws_id) do update set "last" = excluded."last"`;
