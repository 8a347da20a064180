import type { RunRead } from './reading.ts';

interface Head {
  first: number;
  last: number;
}

/** The first and last offset of each log, as committed. All of them are in memory, because `bounds` cannot wait. */
export interface PostgresHeads {
  bounds(wsId: string): Readonly<Head>;
  /** Records after a commit that the log now ends here. */
  advance(wsId: string, last: number): void;
  /**
   * Records before a commit that the log begins after `through`, so that no reader misses the events that it removes.
   * Returns what takes it back when the commit fails.
   */
  begin(wsId: string, through: number): () => void;
}

/** Reads the ends of all logs: one lookup per log, because events have no index of their own for that. */
export async function loadHeads(read: RunRead): Promise<PostgresHeads> {
  const rows = await read<{ ws_id: string; first: number; last: number }>(READ_HEADS, []);
  const heads = new Map<string, Head>(rows.map(({ ws_id, first, last }) => [ws_id, { first, last }]));
  const headOf = (wsId: string): Head => heads.get(wsId) ?? { first: 1, last: 0 };
  return {
    bounds: headOf,
    advance: (wsId, last) => heads.set(wsId, { ...headOf(wsId), last }),
    begin(wsId, through) {
      const { first } = headOf(wsId);
      const set = (next: number) => heads.set(wsId, { ...headOf(wsId), first: next });
      set(through + 1);
      return () => set(first);
    },
  };
}

const READ_HEADS = `with recursive logs (ws_id) as (
    (select ws_id from events order by ws_id limit 1)
    union all
    select (select events.ws_id from events where events.ws_id > logs.ws_id order by events.ws_id limit 1)
    from logs where logs.ws_id is not null
  )
  select logs.ws_id, coalesce(log_heads."first", 1) as "first",
    greatest(log_heads."last", (select max("offset") from events where events.ws_id = logs.ws_id)) as "last"
  from logs left join log_heads on log_heads.ws_id = logs.ws_id where logs.ws_id is not null`;
