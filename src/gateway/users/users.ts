import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Bounds } from '../auth/lineage.ts';
import { deleteMemoriesOf } from '../memories/memory-rows.ts';
import type { UserTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { holdsAll, toGrant } from './grant.ts';
import type { Roles } from './roles.ts';
import { assignmentsOf, insertFirst, type NewUser, nameKeyOf, toUser, toUserRow, type User } from './user-rows.ts';

export interface UserChange {
  displayName?: string | undefined;
  passwordHash?: string | undefined;
  disabled?: boolean | undefined;
}

/** What changed for the credentials of a user. */
export interface UserNews {
  /** All logins of the user end. */
  loginsEnd: boolean;
  /** The id of a login that does not end. */
  keep?: string;
  /** Logins and tokens go on with other rights, or with none. */
  rightsChanged: boolean;
}

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
  readonly #byId = new Map<string, Entry>();
  readonly #byName = new Map<string, Entry>();
  readonly #listeners = new Set<(userId: string, news: UserNews) => void>();

  private constructor(deps: UsersDeps) {
    this.#deps = deps;
    deps.roles.onChanged((roleId) => this.#refreshHolders(roleId));
  }

  static async open(deps: UsersDeps): Promise<Users> {
    const { db } = deps.store;
    const [rows, assignments] = await Promise.all([
      db.selectFrom('users').selectAll().orderBy('created_ms').orderBy('user_id').execute(),
      db.selectFrom('role_assignments').select(['user_id', 'role_id']).execute(),
    ]);
    const users = new Users(deps);
    const roleIds = Map.groupBy(assignments, ({ user_id }) => user_id);
    for (const row of rows) users.#add(row, roleIds.get(row.user_id)?.map(({ role_id }) => role_id) ?? []);
    return users;
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
  findLogin(username: string): { userId: string; passwordHash: string | null; disabled: boolean } | undefined {
    const row = this.#byName.get(nameKeyOf(username))?.row;
    return row && { userId: row.user_id, passwordHash: row.password_hash, disabled: row.disabled === 1 };
  }

  passwordHashOf(userId: string): string | null {
    return this.#entryOf(userId).row.password_hash;
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
    return this.boundsOf(userId) === undefined
      ? AbortSignal.abort()
      : (this.#byId.get(userId)?.end.signal ?? AbortSignal.abort());
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

  /** A new password that the user chose. The caller ends the other logins with `endLogins`, once it has answered. */
  async setOwnPassword(userId: string, passwordHash: string, also: readonly Statement[]): Promise<void> {
    const { row } = this.#entryOf(userId);
    const fields = { password_hash: passwordHash, version: row.version + 1, updated_ms: this.#deps.clock.now() };
    const changed = build.updateTable('users').set(fields).where('user_id', '=', userId);
    await this.#deps.store.commit({ statements: [statementOf(changed, 1), ...also], durable: true });
    Object.assign(row, fields);
  }

  /** Ends open connections of all logins of the user but one. */
  endLogins(userId: string, keep: string): void {
    this.#announce(userId, { loginsEnd: true, rightsChanged: false, keep });
  }

  /** Ends all logins of the user. */
  async logOut(userId: string, also: readonly Statement[]): Promise<void> {
    const { row } = this.#entryOf(userId);
    const version = row.version + 1;
    const changed = build.updateTable('users').set({ version }).where('user_id', '=', userId);
    await this.#deps.store.commit({ statements: [statementOf(changed, 1), ...also], durable: true });
    row.version = version;
    this.#announce(userId, { loginsEnd: true, rightsChanged: false });
  }

  /** A new password, and disabling, end all logins of the user. */
  async update(userId: string, change: UserChange, also: readonly Statement[]): Promise<User> {
    const entry = this.#entryOf(userId);
    const { row } = entry;
    const isSwitched = change.disabled !== undefined && change.disabled !== (row.disabled === 1);
    const loginsEnd = change.passwordHash !== undefined || (isSwitched && change.disabled === true);
    const fields = {
      display_name: change.displayName ?? row.display_name,
      password_hash: change.passwordHash ?? row.password_hash,
      disabled: change.disabled === undefined ? row.disabled : Number(change.disabled),
      version: row.version + (loginsEnd ? 1 : 0),
      updated_ms: this.#deps.clock.now(),
    };
    const changed = build.updateTable('users').set(fields).where('user_id', '=', userId);
    await this.#deps.store.commit({ statements: [statementOf(changed, 1), ...also], durable: true });
    Object.assign(row, fields);
    if (change.disabled === true) this.#endOf(entry);
    if (loginsEnd || isSwitched) this.#announce(userId, { loginsEnd, rightsChanged: isSwitched });
    return toUser(row);
  }

  /** Ends all logins and tokens of the user, and deletes the user's own memories. */
  async remove(userId: string, also: readonly Statement[]): Promise<void> {
    const entry = this.#entryOf(userId);
    const gone = [build.deleteFrom('users'), build.deleteFrom('role_assignments')] as const;
    const statements = [
      statementOf(gone[0].where('user_id', '=', userId), 1),
      statementOf(gone[1].where('user_id', '=', userId)),
    ];
    statements.push(statementOf(build.deleteFrom('oidc_identities').where('user_id', '=', userId)));
    const all = [...statements, ...deleteMemoriesOf(userId), ...also];
    await this.#deps.store.commit({ statements: all, durable: true });
    this.#byId.delete(userId);
    this.#byName.delete(entry.row.username_key);
    this.#endOf(entry);
    this.#announce(userId, { loginsEnd: true, rightsChanged: true });
  }

  /** Assigning a role again changes nothing. */
  async assign(
    userId: string,
    roleId: string,
    { by, also }: { by: string; also: readonly Statement[] },
  ): Promise<void> {
    const entry = this.#entryOf(userId);
    const row = { user_id: userId, role_id: roleId, assigned_by: by, created_ms: this.#deps.clock.now() };
    const insert = build.insertInto('role_assignments').values(row);
    const once = insert.onConflict((on) => on.columns(['user_id', 'role_id']).doNothing());
    await this.#deps.store.commit({ statements: [statementOf(once), ...also], durable: true });
    entry.roleIds.add(roleId);
    this.#refresh(entry);
  }

  /** Throws NOT_FOUND if the user does not have the role. */
  async unassign(userId: string, roleId: string, also: readonly Statement[]): Promise<void> {
    const entry = this.#entryOf(userId);
    if (!entry.roleIds.has(roleId)) throw new GatewayError('NOT_FOUND', 'Role assignment not found');
    const gone = build.deleteFrom('role_assignments').where('user_id', '=', userId).where('role_id', '=', roleId);
    await this.#deps.store.commit({ statements: [statementOf(gone), ...also], durable: true });
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

  #toRow(user: NewUser): UserTable {
    return toUserRow(user, { userId: this.#deps.ids.id('user'), nowMs: this.#deps.clock.now() });
  }

  async #store(row: UserTable, user: NewUser, statements: readonly Statement[]): Promise<User> {
    const all = [...statements, ...assignmentsOf(row, user)];
    await this.#deps.store.commit({ statements: all, durable: true });
    return toUser(this.#add(row, user.roleIds).row);
  }

  #add(row: UserTable, roleIds: readonly string[]): Entry {
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
