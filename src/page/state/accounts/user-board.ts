import { type ReadonlySignal, signal } from '@preact/signals';
import type { ParamsInput } from '../../../../protocol/index.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attempt } from './refusal.ts';

interface Listing {
  users: readonly User[];
  /** Of all users that match. */
  total: number;
}

/** What the form of a user changes; undefined is left as it is. */
export interface UserChange {
  displayName: string | undefined;
  password: string | undefined;
  /** All roles that the user holds afterwards. */
  roles: readonly string[];
}

const PAGE = 50;

/** The people who may log in, page by page, optionally those that match a search. Only the last search is shown. */
export class UserBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #listing = signal<Listing | undefined>(undefined);
  #query = '';

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  search(query: string): Promise<void> {
    this.#query = query.trim();
    return this.#read(PAGE);
  }

  /** Reads again what is shown. */
  refresh(): Promise<void> {
    return this.#read(Math.max(PAGE, this.#listing.peek()?.users.length ?? 0));
  }

  more(): Promise<void> {
    return this.#read((this.#listing.peek()?.users.length ?? 0) + PAGE);
  }

  /** This and the next methods return an error message, or undefined on success. */
  add(params: ParamsInput<'user.create'>): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('user.create', params));
  }

  /** Changes only what differs: a new password ends the logins of the user, and nobody may change their own roles. */
  change(user: User, { displayName, password, roles }: UserChange): Promise<string | undefined> {
    const { userId } = user;
    const isRenamed = displayName !== undefined && displayName !== user.displayName;
    const update = { ...(isRenamed && { displayName }), ...(password !== undefined && { password }) };
    return this.#attempt(async () => {
      if (Object.keys(update).length > 0) await this.#client.call('user.update', { userId, ...update });
      await this.#changeRoles(user, roles);
    });
  }

  setDisabled(userId: string, disabled: boolean): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('user.update', { userId, disabled }));
  }

  remove(userId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('user.delete', { userId }));
  }

  /** Roles are given before others are taken away, so that the user never has none in between. */
  async #changeRoles({ userId, roles: held }: User, wanted: readonly string[]): Promise<void> {
    const given = wanted.filter((roleId) => !held.includes(roleId));
    const taken = held.filter((roleId) => !wanted.includes(roleId));
    for (const roleId of given) await this.#client.call('user.role.assign', { userId, roleId });
    for (const roleId of taken) await this.#client.call('user.role.unassign', { userId, roleId });
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.refresh(); // after a refusal too: the list may be out of date
    return problem;
  }

  #read(limit: number): Promise<void> {
    const params = { limit: Math.min(limit, MOST), ...(this.#query !== '' && { query: this.#query }) };
    return this.reading.read(
      () => this.#client.call('user.list', params),
      ({ users, total }) => {
        this.#listing.value = { users, total };
      },
    );
  }
}

/** The most that the daemon lists at once. The others are found by search. */
const MOST = 1_000;
