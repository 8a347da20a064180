import { nanoid } from 'nanoid';
import { DAEMON_LEASE, type Lease } from './lease/lease.ts';
import type { Query } from './pipeline.ts';

/** Each daemon that writes has its own, by the lease that it writes under. */
const keyOf = (lease: string): string => (lease === DAEMON_LEASE ? 'last_group' : `last_group ${lease}`);

export const findMark = ({ name }: Pick<Lease, 'name'>): { text: string; values: string[] } => ({
  text: 'select value from meta where key = $1',
  values: [keyOf(name)],
});

/** Part of the transaction of each group. */
export const markQuery = (mark: string, { name }: Pick<Lease, 'name'>): Query => ({
  name: 'mark',
  text: 'insert into meta (key, value) values ($2, $1) on conflict (key) do update set value = excluded.value',
  values: [mark, keyOf(name)],
});

/** What the groups of this process are found again by. */
export class GroupMarks {
  readonly #writer = nanoid(12);
  #count = 0;
  #stored: string | undefined;

  /** For the next attempt to write a group. */
  next(): string {
    this.#count += 1;
    return this.#latest();
  }

  /** The server has confirmed the group. */
  stored(mark: string): void {
    this.#stored = mark;
  }

  /** Whether a database with this mark has all groups that were confirmed; it may have one of which nobody knows yet. */
  allIn(found: string | undefined): boolean {
    return this.#stored === undefined || found === this.#stored || found === this.#latest();
  }

  #latest(): string {
    return `${this.#writer} ${this.#count}`;
  }
}

/** The server has forgotten a group that it had confirmed. */
export class Forgotten extends Error {
  override readonly name = 'Forgotten';

  constructor() {
    super(
      'the database lacks changes that it had confirmed: a replica without them may have taken over. This daemon has to be started again, to read everything anew',
    );
  }
}
