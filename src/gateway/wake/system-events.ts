import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** What programs want the main session to know, until its next turn carries it. Survives a restart. */
export interface SystemEvents {
  /** Reads what the last process left. */
  load(): Promise<void>;
  /** On disk when it resolves. A repeat of the last one is dropped; of more than twenty the oldest goes. */
  add(text: string): Promise<void>;
  /** Oldest first. */
  texts(): string[];
  /** All of them, for a run that is being accepted; undefined when there are none. */
  take(): TakenEvents | undefined;
}

export interface TakenEvents {
  /** One line each. */
  text: string;
  /** To be committed with the acceptance: then they are told, exactly once. */
  statements: Statement[];
  /** The run was not accepted. */
  putBack(): void;
}

const CAPACITY = 20;
const PREFIX = 'system_event:';

interface Queued {
  /** Of its row; rises. */
  key: string;
  text: string;
  atMs: number;
}

export function createSystemEvents({ store, clock }: { store: Store; clock: { now(): number } }): SystemEvents {
  let queue: Queued[] = [];
  let last = 0;

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
    async add(text) {
      if (queue.at(-1)?.text === text) return;
      last += 1;
      const added: Queued = { key: PREFIX + String(last).padStart(12, '0'), text, atMs: clock.now() };
      const dropped = queue.length < CAPACITY ? [] : queue.splice(0, queue.length - CAPACITY + 1);
      queue.push(added);
      try {
        await store.commit({ statements: [insert(added), ...dropped.map(remove)] });
      } catch (error) {
        queue = [...dropped, ...queue.filter((one) => one !== added)];
        throw error;
      }
    },
    texts: () => queue.map(({ text }) => text),
    take() {
      if (queue.length === 0) return undefined;
      const taken = queue;
      queue = [];
      return {
        text: taken.map(toLine).join('\n'),
        statements: taken.map(remove),
        putBack: () => {
          queue = [...taken, ...queue];
        },
      };
    },
  };
}

const insert = ({ key, text, atMs }: Queued): Statement =>
  statementOf(build.insertInto('meta').values({ key, value: JSON.stringify({ text, atMs }) }), 1);

const remove = ({ key }: Queued): Statement => statementOf(build.deleteFrom('meta').where('key', '=', key), 1);

const toLine = ({ text, atMs }: Queued): string =>
  `System: [${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC] ${text.replaceAll(/\s*\n\s*/g, ' ')}`;
