import { GatewayError } from '../../../../protocol/errors.ts';
import type { OidcRefusal } from '../../../../protocol/methods/accounts/oidc.ts';
import type { Ids } from '../../../ids.ts';
import { toGrant } from '../../users/grant.ts';
import { nameKeyOf, OIDC_GIVER } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import { createOidcRoles, type OidcRolesDeps } from './oidc-roles.ts';
import type { ClaimedPerson } from './person-claims.ts';

interface OidcUsersDeps extends OidcRolesDeps {
  ids: Pick<Ids, 'secret'>;
}

/** The user that somebody is, and what the login changed about it. */
export interface Entered {
  userId: string;
  /** Of the user, when the person was found. */
  version: number | undefined;
  isNew: boolean;
  /** Roles given and taken because of the provider. */
  given: string[];
  taken: string[];
}

type Claims = Readonly<Record<string, unknown>>;
type Entry = { kind: 'entered'; entered: Entered } | { kind: 'refused'; reason: OidcRefusal };

/**
 * Finds the user of a person by issuer and subject alone: whoever controls a name or a mail address at the provider must
 * not become the user who has it here. Creates missing users, if that is allowed, and brings their roles up to date.
 */
export function createOidcUsers(deps: OidcUsersDeps) {
  const { settings, users, roles, identities, ids } = deps;
  const { issuer } = settings;
  const roleSync = createOidcRoles(deps);

  async function enterAs(userId: string, wanted: Set<string> | undefined): Promise<Entry> {
    const user = users.find(userId);
    if (user === undefined) return refused('no_account'); // deleted meanwhile
    if (user.disabled) return refused('account_disabled');
    const version = users.versionOf(userId);
    const changed = wanted === undefined ? { given: [], taken: [] } : await roleSync.update(userId, wanted);
    if ((users.boundsOf(userId)?.scopes.size ?? 0) === 0) return refused('no_role');
    return { kind: 'entered', entered: { userId, version, isNew: false, given: changed.given, taken: changed.taken } };
  }

  async function create({ subject, username, displayName }: ClaimedPerson, roleIds: Set<string>): Promise<Entry> {
    if (!settings.createUsers) return refused('no_account');
    if (toGrant(roles.permissionsOf(roleIds)).scopes.size === 0) return refused('no_role');
    const given = [...roleIds];
    const person = { displayName, passwordHash: null, roleIds: given, by: OIDC_GIVER };
    const free = findFree(username, users) ?? `${username}-${ids.secret(3)}`;
    const made = await users.create({ ...person, username: free }, (userId) => [
      identities.addition({ issuer, subject, userId }),
    ]);
    const { userId } = made;
    return { kind: 'entered', entered: { userId, version: users.versionOf(userId), isNew: true, given, taken: [] } };
  }

  async function enter(person: ClaimedPerson, claims: Claims, tries = MOST_TRIES): Promise<Entry> {
    const wanted = roleSync.wanted(claims);
    const userId = await identities.findUser(issuer, person.subject);
    if (userId !== undefined) return enterAs(userId, wanted);
    try {
      return await create(person, wanted ?? roleSync.usual());
    } catch (error) {
      // Another login took the name, or is of the same person.
      if (tries > 1 && error instanceof GatewayError && error.code === 'CONFLICT')
        return enter(person, claims, tries - 1);
      throw error;
    }
  }

  return { enter: (person: ClaimedPerson, claims: Claims) => enter(person, claims) };
}

const MOST_TRIES = 5;
const MOST_OF_NAME = 99;

/** A name that nobody has: `ada`, else `ada-2` and so on. */
function findFree(username: string, users: Users): string | undefined {
  const names = [username, ...Array.from({ length: MOST_OF_NAME }, (_, n) => `${username}-${n + 2}`)];
  return names.find((name) => users.findLogin(nameKeyOf(name)) === undefined);
}

const refused = (reason: OidcRefusal): Entry => ({ kind: 'refused', reason });
