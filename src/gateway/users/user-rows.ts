import type { UserTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';

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

/** Names that differ only in case are one name, so that nobody can pose as another user. */
export const nameKeyOf = (username: string): string => username.toLowerCase();

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

export const assignmentsOf = ({ user_id, created_ms }: UserTable, { roleIds, by }: NewUser): Statement[] =>
  roleIds.map((role_id) =>
    statementOf(build.insertInto('role_assignments').values({ user_id, role_id, assigned_by: by, created_ms })),
  );
