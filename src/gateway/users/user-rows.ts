import { endWaitingForUser } from '../channels/delivery-rows.ts';
import type { UserTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** A person as other parts see it: without the password. */
export interface User {
  userId: string;
  username: string;
  displayName: string;
  disabled: boolean;
  /** Whether a password logs the user in. */
  hasPassword: boolean;
  createdMs: number;
  lastLoginMs: number | null;
}

export interface NewUser {
  username: string;
  displayName: string;
  passwordHash: string | null;
  roleIds: readonly string[];
  /** The principal that creates it. */
  by: string;
}

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

export interface ChosenPassword {
  passwordHash: string;
  /** Of the user, when the earlier password was compared. */
  version: number;
}

/** Names that differ only in case are one name, so that nobody can pose as another user. */
export const nameKeyOf = (username: string): string => username.toLowerCase();

/** All users with their roles, in the order of creation. */
export async function readUsers({ db }: Pick<Store, 'db'>): Promise<{ row: UserTable; roleIds: string[] }[]> {
  const [rows, assignments] = await Promise.all([
    db.selectFrom('users').selectAll().orderBy('created_ms').orderBy('user_id').execute(),
    db.selectFrom('role_assignments').select(['user_id', 'role_id']).execute(),
  ]);
  const assigned = Map.groupBy(assignments, ({ user_id }) => user_id);
  return rows.map((row) => ({ row, roleIds: assigned.get(row.user_id)?.map(({ role_id }) => role_id) ?? [] }));
}

export const toUserRow = (
  { username, displayName, passwordHash }: NewUser,
  { userId, nowMs }: { userId: string; nowMs: number },
): UserTable => ({
  user_id: userId,
  username,
  username_key: nameKeyOf(username),
  display_name: displayName,
  password_hash: passwordHash,
  disabled: 0,
  version: 1,
  created_ms: nowMs,
  updated_ms: nowMs,
  last_login_ms: null,
});

export const toUser = (row: UserTable): User => ({
  userId: row.user_id,
  username: row.username,
  displayName: row.display_name,
  disabled: row.disabled === 1,
  hasPassword: row.password_hash !== null,
  createdMs: row.created_ms,
  lastLoginMs: row.last_login_ms,
});

/** A user as the check of a password needs it. */
export interface LoginUser {
  userId: string;
  username: string;
  passwordHash: string | null;
  disabled: boolean;
  /** A login may start only as long as the user still has it. */
  version: number;
}

export const toLoginUser = (row: UserTable): LoginUser => ({
  userId: row.user_id,
  username: row.username,
  passwordHash: row.password_hash,
  disabled: row.disabled === 1,
  version: row.version,
});

/** Login links that nobody has used yet. */
export const deleteLinksOf = (userId: string): Statement =>
  statementOf(build.deleteFrom('login_codes').where('parent_kind', '=', 'user').where('parent_id', '=', userId));

/** Refused if there is a user already. */
export function insertFirst(row: UserTable): Statement {
  const columns = Object.entries(row);
  return {
    sql: `insert into users (${columns.map(([name]) => name).join(', ')})
      select ${columns.map(() => '?').join(', ')} where not exists (select 1 from users)`,
    parameters: columns.map(([, value]) => value),
    expect: 1,
  };
}

/** The columns after a change. A new password, and disabling, raise the version, which ends the logins. */
export function changeOf(row: UserTable, change: UserChange, nowMs: number) {
  const disabled = change.disabled === undefined ? row.disabled : Number(change.disabled);
  const loginsEnd = change.passwordHash !== undefined || disabled > row.disabled;
  return {
    display_name: change.displayName ?? row.display_name,
    password_hash: change.passwordHash ?? row.password_hash,
    disabled,
    version: row.version + (loginsEnd ? 1 : 0),
    updated_ms: nowMs,
  };
}

/** Who assigned the roles that a provider of logins gave, so that it takes back only these. */
export const OIDC_GIVER = 'oidc';

/** The user, its roles and its people at a provider. */
export const removalOf = (userId: string, nowMs: number): Statement[] => [
  statementOf(build.deleteFrom('users').where('user_id', '=', userId), 1),
  statementOf(build.deleteFrom('role_assignments').where('user_id', '=', userId)),
  statementOf(build.deleteFrom('oidc_identities').where('user_id', '=', userId)),
  endWaitingForUser(userId, nowMs),
];
