import { LIMITS } from '../../../protocol/limits.ts';
import { lesserOf, type Rights } from '../rights.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** What programs want the main session to know, until its next turn carries it. Survives a restart. */
export interface SystemEvents {
  /** Reads what the last process left. */
  load(): Promise<void>;
  /**
   * On disk when it resolves, together with `also`. A repeat of the last one is dropped; the oldest go where there are more
   * than twenty, or more text than one turn should carry. Rejects with UnitRefused, having queued nothing, when `also` is refused.
   */
  add(text: string, from: NewSystemEvent): Promise<void>;
  /** Who wants a turn for what is queued; undefined when nobody does. Survives a restart, until the events are told. */
  wakes(): string | undefined;
  /** Oldest first. */
  texts(): string[];
  /** All of them, for a run that is being accepted; undefined when there are none. */
  take(): TakenEvents | undefined;
}

export interface NewSystemEvent {
  /** What its author may do. */
  rights: Rights;
  /** The principal that wants a turn for it. */
  wakes?: string | undefined;
  also?: readonly Statement[];
}

export interface TakenEvents {
  /** One line each, and first how many had to go unread. */
  text: string;
  /** The least among their authors. */
  rights: Rights;
  /** To be committed with the acceptance: then they are told, exactly once. */
  statements: Statement[];
  /** The run was not accepted. */
  putBack(): void;
}

const CAPACITY = 20;
/** Characters of all of them together: the next turn carries them at once. */
const CAPACITY_CHARS = 4 * LIMITS.systemEventChars;
const PREFIX = 'system_event:';

interface Queued {
  /** Of its row; rises. */
  key: string;
  text: string;
  atMs: number;
  /** Left out by earlier versions. */
  rights?: Rights | undefined;
  wakes?: string | undefined;
  /** How many had to go for this one, and for those that went with them. */
  dropped?: number | undefined;
}

export function createSystemEvents({ store, clock }: { store: Store; clock: { now(): number } }): SystemEvents {
  let queue: Queued[] = [];
  let last = 0;
  let adding: Promise<unknown> = Promise.resolve();

  async function addNext(text: string, { also = [], wakes, rights }: NewSystemEvent): Promise<void> {
    const repeated = queue.at(-1);
    if (repeated?.text === text) return noteRepeat(repeated, also, wakes);
    last += 1;
    const dropped = queue.splice(0, excessOf(queue, text));
    const added: Queued = {
      key: PREFIX + String(last).padStart(12, '0'),
      text,
      atMs: clock.now(),
      rights,
      wakes: wakes ?? dropped.findLast((one) => one.wakes !== undefined)?.wakes,
      dropped: dropped.length > 0 ? dropped.length + droppedFor(dropped) : undefined,
    };
    try {
      await store.commit({ statements: [...also, insert(added), ...dropped.map(remove)] });
      queue.push(added); // not before: a turn must not take with it what may come to nothing
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
      queue = rows.map(({ key, value }) => ({ key, ...JSON.parse(value) }));
      last = Number(queue.at(-1)?.key.slice(PREFIX.length) ?? 0);
    },
    add(text, from) {
      // One after the other: what is a repeat depends on whether the one before came to be.
      const added = adding.then(() => addNext(text, from));
      adding = added.catch(() => undefined); // whoever added it hears of it
      return added;
    },
    wakes: () => queue.findLast(({ wakes }) => wakes !== undefined)?.wakes,
    texts: () => queue.map(({ text }) => text),
    take() {
      if (queue.length === 0) return undefined;
      const taken = queue;
      queue = [];
      return {
        text: [...toLoss(droppedFor(taken)), ...taken.map(toLine)].join('\n'),
        rights: taken.map(({ rights = 'public' }) => rights).reduce(lesserOf),
        statements: taken.map(remove),
        putBack: () => {
          queue = [...taken, ...queue];
        },
      };
    },
  };
}

/** How many have to go for one more. */
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

/** It may have been told a moment ago. */
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
        `System: ${count} earlier ${count === 1 ? 'event was' : 'events were'} dropped: at most ${CAPACITY} wait, with ${CAPACITY_CHARS} characters together.`,
      ];

const toLine = ({ text, atMs }: Queued): string =>
  `System: [${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC] ${text.replaceAll(/\s*\n\s*/g, ' ')}`;
