import { GatewayError } from '../../../protocol/errors.ts';
import {
  BUILTIN_ROLES,
  isBuiltinRole,
  isPermission,
  type Permission,
} from '../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../protocol/methods/accounts/role.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { RoleTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';

export interface NewRole {
  name: string;
  displayName: string;
  permissions: readonly Permission[];
}

export interface RoleChange {
  displayName?: string | undefined;
  permissions?: readonly Permission[] | undefined;
}

interface RolesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/** The built-in roles and those that people defined. Statements given as `also` are stored together with a change. */
export class Roles {
  readonly #deps: RolesDeps;
  readonly #own = new Map<string, RoleTable>();
  readonly #listeners = new Set<(roleId: string) => void>();

  private constructor(deps: RolesDeps, rows: readonly RoleTable[]) {
    this.#deps = deps;
    for (const row of rows) this.#own.set(row.role_id, row);
  }

  static async open(deps: RolesDeps): Promise<Roles> {
    return new Roles(deps, await deps.store.db.selectFrom('roles').selectAll().orderBy('created_ms').execute());
  }

  /** The built-in ones first. */
  list(): Role[] {
    const builtin = Object.entries(BUILTIN_ROLES).map(([roleId, { displayName, permissions }]) => ({
      roleId,
      name: roleId,
      displayName,
      permissions: [...permissions],
      builtin: true,
      createdAtMs: 0,
      updatedAtMs: 0,
    }));
    return [...builtin, ...[...this.#own.values()].map(toRole)];
  }

  has(roleId: string): boolean {
    return isBuiltinRole(roleId) || this.#own.has(roleId);
  }

  /** Throws NOT_FOUND. */
  get(roleId: string): Role {
    const role = this.list().find((each) => each.roleId === roleId);
    if (role === undefined) throw roleMissing();
    return role;
  }

  /** What these roles grant together; unknown roles grant nothing. */
  permissionsOf(roleIds: Iterable<string>): Set<Permission> {
    return new Set([...roleIds].flatMap((roleId) => this.#permissionsOf(roleId)));
  }

  /** Called after a role was changed or removed. */
  onChanged(listener: (roleId: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Throws CONFLICT when the name is taken. */
  async create(
    { name, displayName, permissions }: NewRole,
    also: (roleId: string) => readonly Statement[],
  ): Promise<Role> {
    const nowMs = this.#deps.clock.now();
    const row: RoleTable = {
      role_id: this.#deps.ids.id('role'),
      name,
      display_name: displayName,
      permissions: permissions.join(','),
      created_ms: nowMs,
      updated_ms: nowMs,
    };
    if (isBuiltinRole(name)) throw nameTaken(name);
    try {
      const insert = statementOf(build.insertInto('roles').values(row));
      await this.#deps.store.commit({ statements: [insert, ...also(row.role_id)], durable: true });
    } catch (error) {
      if (error instanceof UnitRefused) throw nameTaken(name, error);
      throw error;
    }
    this.#own.set(row.role_id, row);
    return toRole(row);
  }

  /** Changes what its holders may do at once. */
  async update(roleId: string, { displayName, permissions }: RoleChange, also: readonly Statement[]): Promise<Role> {
    const row = this.#ownOf(roleId, 'Cannot modify builtin role');
    const fields = {
      display_name: displayName ?? row.display_name,
      permissions: permissions?.join(',') ?? row.permissions,
      updated_ms: this.#deps.clock.now(),
    };
    const update = build.updateTable('roles').set(fields).where('role_id', '=', roleId);
    await this.#deps.store.commit({ statements: [statementOf(update, 1), ...also], durable: true });
    Object.assign(row, fields);
    this.#announce(roleId);
    return toRole(row);
  }

  /** Takes it away from all its holders. */
  async remove(roleId: string, also: readonly Statement[]): Promise<void> {
    this.#ownOf(roleId, 'Cannot delete builtin role');
    const statements = [
      statementOf(build.deleteFrom('roles').where('role_id', '=', roleId)),
      statementOf(build.deleteFrom('role_assignments').where('role_id', '=', roleId)),
    ];
    await this.#deps.store.commit({ statements: [...statements, ...also], durable: true });
    this.#own.delete(roleId);
    this.#announce(roleId);
  }

  #ownOf(roleId: string, refusal: string): RoleTable {
    if (isBuiltinRole(roleId)) throw new GatewayError('INVALID_REQUEST', refusal);
    const row = this.#own.get(roleId);
    if (row === undefined) throw roleMissing();
    return row;
  }

  #permissionsOf(roleId: string): readonly Permission[] {
    if (isBuiltinRole(roleId)) return BUILTIN_ROLES[roleId].permissions;
    const row = this.#own.get(roleId);
    return row === undefined ? [] : permissionsIn(row);
  }

  #announce(roleId: string): void {
    for (const listener of this.#listeners) listener(roleId);
  }
}

/** Permissions that a newer Headgate stored grant nothing. */
const permissionsIn = ({ permissions }: RoleTable): Permission[] => permissions.split(',').filter(isPermission);

const toRole = (row: RoleTable): Role => ({
  roleId: row.role_id,
  name: row.name,
  displayName: row.display_name,
  permissions: permissionsIn(row),
  builtin: false,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});

export const roleMissing = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Role not found', { cause });

const nameTaken = (name: string, cause?: unknown) =>
  new GatewayError('CONFLICT', `Role '${name}' already exists`, { cause });
