import type { Log } from '../../../log.ts';
import type { Roles } from '../../users/roles.ts';
import { OIDC_GIVER } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import type { Identities } from './identities.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { toGroups } from './person-claims.ts';

export interface OidcRolesDeps {
  settings: OidcSettings;
  users: Users;
  roles: Roles;
  identities: Identities;
  log: Log;
}

interface RoleChange {
  given: string[];
  taken: string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** The roles that follow from the groups of a person. */
export function createOidcRoles({ settings, users, roles, identities, log }: OidcRolesDeps) {
  /** Undefined if the provider does not decide about roles. */
  function wanted(claims: Claims): Set<string> | undefined {
    const { roleClaim, roleMap } = settings;
    if (roleClaim === undefined) return undefined;
    const named = [...toGroups(claims, roleClaim)].flatMap((group) => roleMap.get(group) ?? []);
    const found = new Set(named.flatMap((name) => findRole(name) ?? []));
    return found.size > 0 ? found : usual();
  }

  function usual(): Set<string> {
    const role = settings.defaultRole === undefined ? undefined : findRole(settings.defaultRole);
    return new Set(role === undefined ? [] : [role]);
  }

  function findRole(name: string): string | undefined {
    const role = roles.list().find(({ roleId, name: given }) => roleId === name || given === name);
    if (role === undefined) log.warn({ role: name }, 'the settings of oidc name a role that does not exist');
    return role?.roleId;
  }

  /** Roles that people assigned stay. */
  async function update(userId: string, target: Set<string>): Promise<RoleChange> {
    const before = await identities.givenRoles(userId);
    const held = new Set(users.rolesOf(userId));
    const taken = before.filter((roleId) => held.has(roleId) && !target.has(roleId));
    const given = [...target].filter((roleId) => !held.has(roleId));
    // Taken first: if the daemon dies in between, the person may do less until the next login, never more.
    for (const roleId of taken) await users.unassign(userId, roleId, []);
    for (const roleId of given) await users.assign(userId, roleId, { by: OIDC_GIVER, also: [] });
    return { given, taken };
  }

  return { wanted, usual, update };
}
