import type { RunRead } from './reading.ts';

interface Head {
  first: number;
  last: number;
}

type ReadHeads = (sql: string, parameters: readonly string[]) => Promise<Record<string, unknown>[]>;

/**
 * The first and last offset of each log that is in use, as committed. They are in memory, because `bounds` cannot wait; those of
 * all logs would make a start longer with each stored workstream.
 */
export interface PostgresHeads {
  /** Reads where these logs begin and end, unless it is known; by default on a connection that only reads. */
  know(wsIds: readonly string[], read?: ReadHeads): Promise<void>;
  /** Reads it again. */
  reread(wsIds: readonly string[]): Promise<void>;
  /** The log of a new workstream, which is empty. */
  reset(wsId: string): void;
  /** Throws if the log is not known. */
  bounds(wsId: string): Readonly<Head>;
  /** Records after a commit that the log now ends here. */
  advance(wsId: string, last: number): void;
  /** Another daemon has added these events to the log. False if the log is not known, or others before them are missing. */
  noteGrowth(wsId: string, events: { from: number; end: number }): boolean;
  /**
   * Records before a commit that the log begins after `through`, so that no reader misses the events that it removes.
   * Returns what takes it back when the commit fails.
   */
  begin(wsId: string, through: number): () => void;
}

export function createHeads(readAnywhere: RunRead): PostgresHeads {
  const heads = new Map<string, Head>();
  const headOf = (wsId: string): Head => {
    const head = heads.get(wsId);
    if (head) return head;
    throw new Error(`nobody has read where the log of workstream ${wsId} ends`);
  };
  const know: PostgresHeads['know'] = async (wsIds, read = readAnywhere) => {
    const unknown = wsIds.filter((wsId) => !heads.has(wsId));
    if (unknown.length === 0) return;
    const rows = await read(READ_HEADS, [JSON.stringify(unknown)]);
    // Of a log that became known meanwhile, more is known by now: it may have grown since the read.
    for (const { ws_id, first, last } of rows)
      if (!heads.has(String(ws_id))) heads.set(String(ws_id), { first: Number(first), last: Number(last) });
  };
  return {
    know,
    async reread(wsIds) {
      const rows: Record<string, unknown>[] = await readAnywhere(READ_HEADS, [JSON.stringify(wsIds)]);
      for (const { ws_id, first, last } of rows)
        heads.set(String(ws_id), {
          first: Number(first),
          last: Math.max(Number(last), heads.get(String(ws_id))?.last ?? 0),
        });
    },
    reset: (wsId) => void heads.set(wsId, { first: 1, last: 0 }),
    bounds: headOf,
    advance: (wsId, last) => heads.set(wsId, { ...headOf(wsId), last }),
    noteGrowth(wsId, { from, end }) {
      const head = heads.get(wsId);
      if (head === undefined) return false;
      heads.set(wsId, { ...head, last: Math.max(head.last, end) });
      return from === head.last + 1;
    },
    begin(wsId, through) {
      const { first } = headOf(wsId);
      const set = (next: number) => heads.set(wsId, { ...headOf(wsId), first: next });
      set(through + 1);
      return () => set(first);
    },
  };
}

const READ_HEADS = `select logs.ws_id, coalesce(log_heads."first", 1) as "first",
    coalesce(greatest(log_heads."last", (select max("offset") from events where events.ws_id = logs.ws_id)), 0) as "last"
  from jsonb_array_elements_text($1::jsonb) as logs (ws_id) left join log_heads on log_heads.ws_id = logs.ws_id`;
