import { isBuiltinRole } from '../../../protocol/methods/accounts/permissions.ts';
import type { UserTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { roleMissing } from './roles.ts';
import { type NewUser, OIDC_GIVER } from './user-rows.ts';

/** Stores what assigns these roles. Throws NOT_FOUND if one of them was removed meanwhile. */
export async function commitAssigned(
  store: Pick<Store, 'commit'>,
  roleIds: readonly string[],
  statements: readonly Statement[],
): Promise<void> {
  try {
    await store.commit({ statements: [...requireRoles(roleIds), ...statements], durable: true });
  } catch (error) {
    if (error instanceof UnitRefused && error.tag === ROLE_GONE) throw roleMissing(error);
    throw error;
  }
}

/** The tag of a statement that was refused because its role is gone. */
const ROLE_GONE = 'role gone';

/** Refuses a unit that assigns roles of which one is gone by now. */
const requireRoles = (roleIds: readonly string[]): Statement[] =>
  roleIds
    .filter((roleId) => !isBuiltinRole(roleId))
    .map((roleId) => {
      const same = build.updateTable('roles').set(({ ref }) => ({ name: ref('name') }));
      return statementOf(same.where('role_id', '=', roleId), 1, ROLE_GONE);
    });

export const assignmentsOf = ({ user_id, created_ms }: UserTable, { roleIds, by }: NewUser): Statement[] =>
  roleIds.map((role_id) =>
    statementOf(build.insertInto('role_assignments').values({ user_id, role_id, assigned_by: by, created_ms })),
  );

interface Assignment {
  userId: string;
  roleId: string;
  by: string;
  nowMs: number;
}

/** A person who assigns a role that the provider gave takes it over. Otherwise, assigning a role again changes nothing. */
export function assignmentOf({ userId, roleId, by, nowMs }: Assignment): Statement {
  const row = { user_id: userId, role_id: roleId, assigned_by: by, created_ms: nowMs };
  const insert = build.insertInto('role_assignments').values(row);
  const takenOver = insert.onConflict((on) =>
    on
      .columns(['user_id', 'role_id'])
      .doUpdateSet({ assigned_by: by })
      .where('role_assignments.assigned_by', '=', OIDC_GIVER),
  );
  return statementOf(takenOver);
}

export const unassignmentOf = ({ userId, roleId }: Pick<Assignment, 'userId' | 'roleId'>): Statement =>
  statementOf(build.deleteFrom('role_assignments').where('user_id', '=', userId).where('role_id', '=', roleId));
