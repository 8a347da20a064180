import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Part, splitUp } from '../cuts/cut.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { damaged } from '../store/store-fault.ts';

/** A message as it is stored, or the summary in place of a compacted range. */
export type Stored = StoredRow | Extract<Part, { kind: 'summary' }>;

/** Reads the messages of parts in pages, with turns of the event loop in between; every page is oldest first. */
export interface PartPages {
  /** The newest of them, oldest first. */
  newest(wsId: string, parts: readonly Part[], limit?: number): Promise<Stored[]>;
  /** From the newest page to the oldest. Throws if too many messages are damaged. */
  backwards(wsId: string, parts: readonly Part[], limit?: number): AsyncGenerator<Stored[]>;
  /** From the oldest page to the newest. */
  forwards(wsId: string, parts: readonly Part[], pageSize: number): AsyncGenerator<Stored[]>;
}

export function createPartPages(store: Pick<Store, 'readMessages'>): PartPages {
  const readPart = async (wsId: string, part: Part, limit: number): Promise<Stored[]> =>
    part.kind === 'summary' ? [part] : store.readMessages(wsId, { ...part, limit });

  const backwards: PartPages['backwards'] = async function* (wsId, parts, limit = Number.MAX_SAFE_INTEGER) {
    const turns = createTurns();
    let [left, lost] = [limit, 0];
    for (const part of fromTheEnd(parts)) {
      if (left <= 0) return;
      await turns.before();
      const page = await readPart(wsId, part, Math.min(left, PAGE));
      turns.read(page.length);
      left -= page.length;
      lost += page.filter((stored) => 'json' in stored && stored.json === undefined).length;
      if (lost > MOST_LOST) throw damaged(new Error(`more than ${MOST_LOST} messages are damaged`));
      yield page;
    }
  };

  return {
    backwards,
    async newest(wsId, parts, limit) {
      const pages: Stored[][] = [];
      for await (const page of backwards(wsId, parts, limit)) pages.push(page);
      return pages.reverse().flat();
    },
    async *forwards(wsId, parts, pageSize) {
      const turns = createTurns();
      for (const part of splitUp(parts, pageSize)) {
        await turns.before();
        const page = await readPart(wsId, part, pageSize);
        turns.read(page.length);
        yield page;
      }
    },
  };
}

/** Pages of messages, from the newest to the oldest. */
function* fromTheEnd(parts: readonly Part[]): Generator<Part> {
  for (const part of parts.toReversed()) {
    if (part.kind === 'summary') yield part;
    else
      for (let { upTo } = part; upTo > part.after; upTo -= PAGE)
        yield { kind: 'stored', after: Math.max(part.after, upTo - PAGE), upTo };
  }
}

/** Gives a turn of the event loop to other work after every page of messages, even if the parts are small. */
function createTurns() {
  let sinceTurn = 0;
  return {
    /** Call it before each read. */
    async before(): Promise<void> {
      if (sinceTurn < PAGE) return;
      sinceTurn = 0;
      await nextTurn();
    },
    read(count: number): void {
      sinceTurn += count;
    },
  };
}

/** Messages read at once, so that a long conversation does not block the event loop. */
export const PAGE = 200;
/** Limits the placeholders, in case the message count itself is wrong. */
const MOST_LOST = 10_000;
