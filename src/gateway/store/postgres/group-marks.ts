import { nanoid } from 'nanoid';
import type { Query } from './pipeline.ts';

const KEY = 'last_group';

export const FIND_MARK = `select value from meta where key = '${KEY}'`;

/** Part of the transaction of each group. */
export const markQuery = (mark: string): Query => ({
  name: 'mark',
  text: `insert into meta (key, value) values ('${KEY}', $1) on conflict (key) do update set value = excluded.value`,
  values: [mark],
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
