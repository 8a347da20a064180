import type { Connection } from './connection.ts';

interface Head {
  first: number;
  last: number;
}

/** Where each log begins and ends, as committed; read from the table when first asked for. */
export interface LogHeads {
  bounds(wsId: string): Readonly<Head>;
  /** After a commit: the log now ends here. */
  advance(wsId: string, last: number): void;
  /** What is known may be wrong: read again. */
  forget(wsId?: string): void;
}

/** Keeps at most `capacity` logs; the rest is one index look-up away. */
export function createLogHeads(connection: Connection, capacity = 20_000): LogHeads {
  const heads = new Map<string, Head>();
  const load = (wsId: string): Head => {
    const [row] = connection.all(BOUNDS, [wsId, wsId]);
    const head = { first: Number(row?.first ?? 1), last: Number(row?.last ?? 0) };
    if (heads.size >= capacity) heads.delete(heads.keys().next().value ?? '');
    heads.set(wsId, head);
    return head;
  };
  return {
    bounds: (wsId) => heads.get(wsId) ?? load(wsId),
    advance(wsId, last) {
      const head = heads.get(wsId);
      if (head) head.last = last;
    },
    forget(wsId) {
      if (wsId === undefined) heads.clear();
      else heads.delete(wsId);
    },
  };
}

/** Two sub-selects: SQLite answers min and max from the ends of the index only when each stands alone. */
const BOUNDS = `select
  (select min("offset") from events where ws_id = ?) as "first",
  (select max("offset") from events where ws_id = ?) as "last"`;
