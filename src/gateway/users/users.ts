import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { type Bounds, parentEnded } from '../auth/lineage.ts';
import { endWaitingForUser } from '../channels/delivery-rows.ts';
import { deleteMemoriesOf } from '../memories/memory-rows.ts';
import type { UserTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { assignmentOf, assignmentsOf, commitAssigned, unassignmentOf } from './assignments.ts';
import { holdsAll, toGrant } from './grant.ts';
import type { Roles } from './roles.ts';
import {
  type ChosenPassword,
  changeOf,
  deleteLinksOf,
  insertFirst,
  type LoginUser,
  type NewUser,
  nameKeyOf,
  readUsers,
  removalOf,
  toLoginUser,
  toUser,
  toUserRow,
  type User,
  type UserChange,
  type UserNews,
} from './user-rows.ts';

interface Entry {
  row: UserTable;
  roleIds: Set<string>;
  bounds: Bounds;
  end: AbortController;
}

interface UsersDeps {
  store: Pick<Store, 'db' | 'commit'>;
  roles: Roles;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/**
 * The users, in memory with their rights, because every request asks for them. Statements given as `also` are stored
 * together with a change.
 */
export class Users {
  readonly #deps: UsersDeps;
  #byId = new Map<string, Entry>();
  #byName = new Map<string, Entry>();
  readonly #serially = createSerialKeys();
  readonly #listeners = new Set<(userId: string, news: UserNews) => void>();

  private constructor(deps: UsersDeps) {
    this.#deps = deps;
    deps.roles.onChanged((roleId) => this.#refreshHolders(roleId));
  }

  static async open(deps: UsersDeps): Promise<Users> {
    const users = new Users(deps);
    for (const { row, roleIds } of await readUsers(deps.store)) users.#add(row, roleIds);
    return users;
  }

  /** Has the users of another instance from now on, which has read them later. Tells nobody. */
  become(later: Users): void {
    this.#byId = later.#byId;
    this.#byName = later.#byName;
  }

  get count(): number {
    return this.#byId.size;
  }

  /** In the order of creation. */
  list(): User[] {
    return [...this.#byId.values()].map(({ row }) => toUser(row));
  }

  find(userId: string): User | undefined {
    const entry = this.#byId.get(userId);
    return entry && toUser(entry.row);
  }

  /** Throws NOT_FOUND. */
  get(userId: string): User {
    return toUser(this.#entryOf(userId).row);
  }

  /** By the name to log in with, in upper or lower case. */
  findLogin(username: string): LoginUser | undefined {
    const row = this.#byName.get(nameKeyOf(username))?.row;
    return row && toLoginUser(row);
  }

  rolesOf(userId: string): string[] {
    return [...this.#entryOf(userId).roleIds];
  }

  /** What credentials of the user may do; undefined if there is no such user, or none that may log in. */
  boundsOf(userId: string): Bounds | undefined {
    const entry = this.#byId.get(userId);
    return entry === undefined || entry.row.disabled === 1 ? undefined : entry.bounds;
  }

  /** In the `ver` claim of logins: a login of an earlier version has ended. */
  versionOf(userId: string): number | undefined {
    return this.#byId.get(userId)?.row.version;
  }

  /** Aborts when the user is deleted, disabled or has fewer rights. */
  endOf(userId: string): AbortSignal {
    const entry = this.boundsOf(userId) && this.#byId.get(userId);
    return entry?.end.signal ?? AbortSignal.abort();
  }

  /** Called after a change was stored. */
  onChanged(listener: (userId: string, news: UserNews) => void): void {
    this.#listeners.add(listener);
  }

  /** Creates the first user. Throws CONFLICT if there is one already, also when two are created at once. */
  async setUp(user: NewUser, also: (userId: string) => readonly Statement[]): Promise<User> {
    const row = this.#toRow(user);
    try {
      return await this.#store(row, user, [insertFirst(row), ...also(row.user_id)]);
    } catch (error) {
      if (error instanceof UnitRefused) throw new GatewayError('CONFLICT', 'Setup already completed', { cause: error });
      throw error;
    }
  }

  /** Throws CONFLICT when the name is taken. */
  async create(user: NewUser, also: (userId: string) => readonly Statement[]): Promise<User> {
    const row = this.#toRow(user);
    try {
      const insert = statementOf(build.insertInto('users').values(row));
      return await this.#store(row, user, [insert, ...also(row.user_id)]);
    } catch (error) {
      if (error instanceof UnitRefused && error.why === 'key') {
        throw new GatewayError('CONFLICT', 'Username already taken', { cause: error });
      }
      throw error;
    }
  }

  /**
   * A new password that the user chose, unless another change ended the user's logins since `version`. Resolves with
   * the new version. The caller ends the other logins with `endLogins`, once it has answered.
   */
  async setOwnPassword(userId: string, chosen: ChosenPassword, also: readonly Statement[]): Promise<number> {
    const { passwordHash, version } = chosen;
    const nowMs = this.#deps.clock.now();
    const { row } = await this.#change(userId, also, (before) => {
      if (before.version !== version) throw parentEnded();
      return { password_hash: passwordHash, version: version + 1, updated_ms: nowMs };
    });
    return row.version;
  }

  /** Ends open connections of all logins of the user, or of all but one. */
  endLogins(userId: string, keep?: string): void {
    this.#announce(userId, { loginsEnd: true, rightsChanged: false, ...(keep !== undefined && { keep }) });
  }

  /** Ends all logins of the user. */
  async logOut(userId: string, also: readonly Statement[]): Promise<void> {
    await this.#change(userId, also, ({ version }) => ({ version: version + 1 }));
    this.#announce(userId, { loginsEnd: true, rightsChanged: false });
  }

  /** A new password, and disabling, end all logins of the user. Disabling also ends what waits for the user's chats. */
  async update(userId: string, change: UserChange, also: readonly Statement[]): Promise<User> {
    const nowMs = this.#deps.clock.now();
    let before: UserTable | undefined;
    const ending = change.disabled === true ? [endWaitingForUser(userId, nowMs)] : [];
    const entry = await this.#change(userId, [...ending, ...also], (row) => {
      before = { ...row };
      return changeOf(row, change, nowMs);
    });
    const loginsEnd = entry.row.version !== before?.version;
    const rightsChanged = entry.row.disabled !== before?.disabled;
    if (change.disabled === true) this.#endOf(entry);
    if (loginsEnd || rightsChanged) this.#announce(userId, { loginsEnd, rightsChanged });
    return toUser(entry.row);
  }

  /** Ends all logins and tokens of the user, and what waits for the user's chats, and deletes the user's own memories. */
  async remove(userId: string, also: readonly Statement[]): Promise<void> {
    const entry = this.#entryOf(userId);
    const all = [...removalOf(userId, this.#deps.clock.now()), ...deleteMemoriesOf(userId), ...also];
    await this.#deps.store.commit({ statements: all, durable: true });
    this.#byId.delete(userId);
    this.#byName.delete(entry.row.username_key);
    this.#endOf(entry);
    this.#announce(userId, { loginsEnd: true, rightsChanged: true });
  }

  /** A person who assigns a role that the provider gave takes it over. Otherwise, assigning it again changes nothing. */
  async assign(
    userId: string,
    roleId: string,
    { by, also }: { by: string; also: readonly Statement[] },
  ): Promise<void> {
    const entry = this.#entryOf(userId);
    const once = assignmentOf({ userId, roleId, by, nowMs: this.#deps.clock.now() });
    await commitAssigned(this.#deps.store, [roleId], [once, ...also]);
    if (!this.#deps.roles.has(roleId)) return; // it was removed right afterwards
    entry.roleIds.add(roleId);
    this.#refresh(entry);
  }

  /** Throws NOT_FOUND if the user does not have the role. */
  async unassign(userId: string, roleId: string, also: readonly Statement[]): Promise<void> {
    const entry = this.#entryOf(userId);
    if (!entry.roleIds.has(roleId)) throw new GatewayError('NOT_FOUND', 'Role assignment not found');
    const gone = unassignmentOf({ userId, roleId });
    await this.#deps.store.commit({ statements: [gone, ...also], durable: true });
    entry.roleIds.delete(roleId);
    this.#refresh(entry);
  }

  /** Stores the time of a login. Does not delay it. */
  noteLogin(userId: string): Statement {
    const nowMs = this.#deps.clock.now();
    const entry = this.#byId.get(userId);
    if (entry) entry.row.last_login_ms = nowMs;
    return statementOf(build.updateTable('users').set({ last_login_ms: nowMs }).where('user_id', '=', userId));
  }

  /**
   * Changes of one user are stored one after the other, because a change that began with the row before another one would
   * restore the earlier password. Unused login links end together with the logins.
   */
  #change(
    userId: string,
    also: readonly Statement[],
    fieldsOf: (row: UserTable) => Partial<UserTable>,
  ): Promise<Entry> {
    return this.#serially.run(userId, async () => {
      const entry = this.#entryOf(userId);
      const fields = fieldsOf(entry.row);
      const changed = statementOf(build.updateTable('users').set(fields).where('user_id', '=', userId), 1);
      const isEnding = fields.version !== undefined && fields.version !== entry.row.version;
      const statements = [changed, ...(isEnding ? [deleteLinksOf(userId)] : []), ...also];
      await this.#deps.store.commit({ statements, durable: true });
      Object.assign(entry.row, fields);
      return entry;
    });
  }

  #toRow(user: NewUser): UserTable {
    return toUserRow(user, { userId: this.#deps.ids.id('user'), nowMs: this.#deps.clock.now() });
  }

  async #store(row: UserTable, user: NewUser, statements: readonly Statement[]): Promise<User> {
    await commitAssigned(this.#deps.store, user.roleIds, [...statements, ...assignmentsOf(row, user)]);
    return toUser(this.#add(row, user.roleIds).row);
  }

  /** Without roles that are gone: an earlier version could assign one while it was being removed. */
  #add(row: UserTable, assigned: readonly string[]): Entry {
    const roleIds = assigned.filter((roleId) => this.#deps.roles.has(roleId));
    const bounds = this.#toBounds(row.user_id, roleIds);
    const entry: Entry = { row, roleIds: new Set(roleIds), bounds, end: new AbortController() };
    this.#byId.set(row.user_id, entry);
    this.#byName.set(row.username_key, entry);
    return entry;
  }

  #toBounds(userId: string, roleIds: Iterable<string>): Bounds {
    return { ...toGrant(this.#deps.roles.permissionsOf(roleIds)), expiresAtMs: undefined, userId };
  }

  #refreshHolders(roleId: string): void {
    for (const entry of this.#byId.values()) {
      if (!entry.roleIds.has(roleId)) continue;
      if (!this.#deps.roles.has(roleId)) entry.roleIds.delete(roleId);
      this.#refresh(entry);
    }
  }

  #refresh(entry: Entry): void {
    const before = entry.bounds;
    entry.bounds = this.#toBounds(entry.row.user_id, entry.roleIds);
    const hasLess = !holdsAll(entry.bounds.permissions, before.permissions);
    if (!hasLess && holdsAll(before.permissions, entry.bounds.permissions)) return;
    if (hasLess) this.#endOf(entry);
    this.#announce(entry.row.user_id, { loginsEnd: false, rightsChanged: true });
  }

  #endOf(entry: Entry): void {
    entry.end.abort(new Error('the user lost rights'));
    entry.end = new AbortController();
  }

  #announce(userId: string, news: UserNews): void {
    for (const listener of this.#listeners) listener(userId, news);
  }

  #entryOf(userId: string): Entry {
    const entry = this.#byId.get(userId);
    if (entry === undefined) throw new GatewayError('NOT_FOUND', 'User not found');
    return entry;
  }
}
