import { isRecord } from '../../../protocol/is-record.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { joinLines } from '../../../protocol/text/trimmed-text.ts';
import type { ReadTaint } from '../../agent/run/approval/taint.ts';
import { lesserOf, type Rights } from '../rights.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isText, storedReader } from '../store/stored-value.ts';

/** Events for the main session, which its next turn carries. They survive a restart. */
export interface SystemEvents {
  /** Loads the events that the previous process left. */
  load(): Promise<void>;
  /**
   * Stored, together with `also`, when it resolves. Drops a repeat of the last event. Drops the oldest events when
   * there are more than twenty, or more text than one turn should carry. Rejects with UnitRefused and queues nothing
   * when `also` is refused.
   */
  add(text: string, from: NewSystemEvent): Promise<void>;
  /**
   * The principal that wants a turn for the queued events, if any. Survives a restart, until a turn has carried the
   * events.
   */
  wakes(): string | undefined;
  /** Oldest first. */
  texts(): string[];
  /** Takes all events for a run that is being accepted; undefined when there are none. */
  take(): TakenEvents | undefined;
}

export interface NewSystemEvent {
  /** The rights of its author. */
  rights: Rights;
  /** What it was made from that nobody trusts. */
  taint?: ReadTaint | undefined;
  /** The principal that wants a turn for it. */
  wakes?: string | undefined;
  also?: readonly Statement[];
}

export interface TakenEvents {
  /** One line per event, preceded by the number of dropped events. */
  text: string;
  /** The lowest rights among the authors. */
  rights: Rights;
  /** The latest among those of the events. */
  taint?: ReadTaint | undefined;
  /** To be committed with the acceptance, so that the events are carried exactly once. */
  statements: Statement[];
  /** The run was not accepted: queues the events again. */
  putBack(): void;
}

const CAPACITY = 20;
/** The maximum total text, because the next turn carries all of it. */
const CAPACITY_CHARS = 4 * LIMITS.systemEventChars;
const PREFIX = 'system_event:';

interface Queued {
  /** The key of its row; increases. */
  key: string;
  text: string;
  atMs: number;
  /** Absent in rows of earlier versions. */
  rights?: Rights | undefined;
  taint?: ReadTaint | undefined;
  wakes?: string | undefined;
  /** How many earlier events were dropped for this one, directly or indirectly. */
  dropped?: number | undefined;
}

const isEvent = (value: unknown): value is Omit<Queued, 'key'> => isRecord(value) && isText(value.text);

export function createSystemEvents({ store, clock }: { store: Store; clock: { now(): number } }): SystemEvents {
  let queue: Queued[] = [];
  let last = 0;
  let adding: Promise<unknown> = Promise.resolve();

  async function addNext(text: string, { also = [], wakes, rights, taint }: NewSystemEvent): Promise<void> {
    const repeated = queue.at(-1);
    if (repeated?.text === text) return noteRepeat(repeated, also, wakes);
    last += 1;
    const dropped = queue.splice(0, excessOf(queue, text));
    const added: Queued = {
      key: PREFIX + String(last).padStart(12, '0'),
      text,
      atMs: clock.now(),
      rights,
      taint,
      wakes: wakes ?? dropped.findLast((one) => one.wakes !== undefined)?.wakes,
      dropped: dropped.length > 0 ? dropped.length + droppedFor(dropped) : undefined,
    };
    try {
      await store.commit({ statements: [...also, insert(added), ...dropped.map(remove)] });
      queue.push(added); // only after the commit, so that a turn cannot carry an event whose commit fails
    } catch (error) {
      queue = [...dropped, ...queue];
      throw error;
    }
  }

  async function noteRepeat(repeated: Queued, also: readonly Statement[], wakes: string | undefined): Promise<void> {
    const noted = { ...repeated, wakes: wakes ?? repeated.wakes };
    const statements = [...also, ...(noted.wakes === repeated.wakes ? [] : [update(noted)])];
    if (statements.length > 0) await store.commit({ statements });
    repeated.wakes = noted.wakes;
  }

  return {
    async load() {
      const rows = await store.db
        .selectFrom('meta')
        .selectAll()
        .where('key', '>=', PREFIX)
        .where('key', '<', `${PREFIX}~`)
        .orderBy('key')
        .execute();
      const read = storedReader(store);
      queue = rows.flatMap(({ key, value }) => {
        const event = read(value, 'an event for the main session', isEvent);
        return event ? { key, ...event } : [];
      });
      // A damaged row keeps its key.
      last = Number(rows.at(-1)?.key.slice(PREFIX.length) ?? 0);
    },
    add(text, from) {
      // One at a time, because whether an event is a repeat depends on the previous one being stored.
      const added = adding.then(() => addNext(text, from));
      adding = added.catch(() => undefined); // the caller who added it gets the error
      return added;
    },
    wakes: () => queue.findLast(({ wakes }) => wakes !== undefined)?.wakes,
    texts: () => queue.map(({ text }) => text),
    take() {
      if (queue.length === 0) return undefined;
      const taken = queue;
      queue = [];
      return {
        ...together(taken),
        putBack: () => {
          queue = [...taken, ...queue];
        },
      };
    },
  };
}

const together = (taken: readonly Queued[]): Omit<TakenEvents, 'putBack'> => ({
  text: [...toLoss(droppedFor(taken)), ...taken.map(toLine)].join('\n'),
  rights: taken.map(({ rights = 'public' }) => rights).reduce(lesserOf),
  taint: taken.findLast(({ taint }) => taint !== undefined)?.taint,
  statements: taken.map(remove),
});

/** How many events must be dropped for a new one. */
function excessOf(queue: readonly Queued[], text: string): number {
  let room = CAPACITY_CHARS - text.length;
  const fitting = queue.toReversed().findIndex((one) => {
    room -= one.text.length;
    return room < 0;
  });
  const kept = Math.min(CAPACITY - 1, fitting < 0 ? queue.length : fitting);
  return Math.max(0, queue.length - kept);
}

const toValue = ({ key: _, ...value }: Queued): string => JSON.stringify(value);

const insert = (event: Queued): Statement =>
  statementOf(build.insertInto('meta').values({ key: event.key, value: toValue(event) }), 1);

/** Has no effect if a turn has just carried it. */
const update = (event: Queued): Statement =>
  statementOf(
    build
      .updateTable('meta')
      .set({ value: toValue(event) })
      .where('key', '=', event.key),
  );

const remove = ({ key }: Queued): Statement => statementOf(build.deleteFrom('meta').where('key', '=', key), 1);

const droppedFor = (queue: readonly Queued[]): number => queue.reduce((sum, { dropped = 0 }) => sum + dropped, 0);

const toLoss = (count: number): string[] =>
  count === 0
    ? []
    : [
        `System: ${count} earlier ${count === 1 ? 'event was' : 'events were'} dropped: the queue holds at most ${CAPACITY}, with ${CAPACITY_CHARS} characters in total.`,
      ];

const toLine = ({ text, atMs }: Queued): string =>
  `System: [${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC] ${joinLines(text)}`;
