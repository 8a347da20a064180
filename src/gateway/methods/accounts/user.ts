import { GRANTED } from '../../../../protocol/contract.ts';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { TokenScope } from '../../../../protocol/methods/accounts/token.ts';
import type { User, userContracts } from '../../../../protocol/methods/accounts/user.ts';
import type { ApiTokens } from '../../auth/api-tokens.ts';
import { minterOf } from '../../auth/lineage.ts';
import type { Parent } from '../../auth/parent.ts';
import { requireAuthentication, requireStanding } from '../../auth/require-authentication.ts';
import type { Call, Handlers } from '../../call.ts';
import { expandScopes, holds } from '../../rights.ts';
import { holdsAll, NO_PERMISSIONS, toGrant } from '../../users/grant.ts';
import type { Passwords } from '../../users/passwords.ts';
import type { Roles } from '../../users/roles.ts';
import { checkDisplayName, checkPassword, checkTokenName, checkUsername } from '../../users/user-input.ts';
import type { User as Person } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import { requireHeld } from './role.ts';

export interface UserMethodDeps {
  users: Users;
  roles: Roles;
  passwords: Passwords;
  tokens: Pick<ApiTokens, 'create' | 'list' | 'revocationOf'>;
}

const VIEWER = 'builtin-viewer';

export const userMethods = (deps: UserMethodDeps): Handlers<keyof typeof userContracts> => ({
  ...personMethods(deps),
  ...tokenMethods(deps),
  ...assignmentMethods(deps),
});

function personMethods(deps: UserMethodDeps) {
  const { users, roles, passwords, tokens } = deps;
  const shown = (person: Person) => toUser(person, users);
  return {
    'user.list': ({ query = '', limit = 100, offset = 0 }) => {
      const found = matching(users, query);
      return { users: found.slice(offset, offset + limit).map(shown), total: found.length };
    },
    'user.names': ({ userIds, query = '' }) => {
      const found =
        userIds?.flatMap((userId) => users.find(userId) ?? []) ??
        matching(users, query)
          .filter(({ disabled }) => !disabled)
          .slice(0, MOST_NAMES);
      return { users: found.map(({ userId, username, displayName }) => ({ userId, username, displayName })) };
    },
    'user.create': async ({ username, displayName, password, roles: asked }, call) => {
      requireAuthentication(call.principal, 'add users');
      const roleIds = asked ?? [VIEWER];
      const person = { username: checkUsername(username), displayName: checkDisplayName(displayName) };
      checkPassword(password);
      const requireRights = () => {
        requireStanding(call.principal);
        requireHeld(call, roles.permissionsOf(roleIds.map((roleId) => roles.get(roleId).roleId)));
      };
      requireRights();
      const passwordHash = await passwords.hash(password);
      requireRights(); // they may have changed meanwhile
      const made = { ...person, passwordHash, roleIds, by: call.principal?.id ?? '' };
      return shown(await users.create(made, (id) => call.audited({ id, username, roles: roleIds })));
    },
    'user.update': async ({ userId, displayName, password, disabled }, call) => {
      requireAuthentication(call.principal, 'change users');
      requireOver(call, userId, deps);
      if (disabled === true) requireOther(call, userId, { refusal: 'Cannot disable your own account' });
      const passwordHash = password === undefined ? undefined : await passwords.hash(checkPassword(password));
      requireStanding(call.principal); // the rights of both may have changed meanwhile
      requireOver(call, userId, deps);
      const name = displayName === undefined ? undefined : checkDisplayName(displayName);
      const detail = { displayName: name, disabled, ...(password !== undefined && { password: 'changed' }) };
      return shown(await users.update(userId, { displayName: name, passwordHash, disabled }, call.audited(detail)));
    },
    'user.delete': async ({ userId }, call) => {
      const { username } = users.get(userId);
      requireOther(call, userId, { refusal: 'Cannot delete your own account', code: 'INVALID_REQUEST' });
      requireOver(call, userId, deps);
      await users.remove(userId, [...tokens.revocationOf(userId), ...call.audited({ username })]);
      return { status: 'ok' };
    },
  } satisfies Partial<Handlers>;
}

/** Enough to choose from; the others are found by more of their name. */
const MOST_NAMES = 50;

function matching(users: Users, query: string): Person[] {
  const part = query.toLowerCase();
  return users.list().filter(({ username, displayName }) => `${username}\n${displayName}`.toLowerCase().includes(part));
}

function tokenMethods(deps: UserMethodDeps) {
  const { users, roles, tokens } = deps;
  return {
    'user.token.list': ({ userId }) => ({ tokens: tokens.list(users.get(userId).userId) }),
    'user.token.create': async ({ userId, name, scopes, expiresInMs }, call) => {
      requireAuthentication(call.principal, 'create tokens');
      requireOver(call, userId, deps);
      if (users.get(userId).disabled) throw new GatewayError('CONFLICT', 'The user is disabled; enable the user first');
      const { scopes: held } = toGrant(roles.permissionsOf(users.rolesOf(userId)));
      const isHeld = (one: TokenScope) => holds(held, one) && holds(call.principal?.scopes ?? new Set(), one);
      const scope = scopes === undefined ? (GRANTED.findLast(isHeld) ?? 'read') : highestOf(scopes);
      if (!isHeld(scope))
        throw new GatewayError('FORBIDDEN', `Forbidden: a token of this user cannot have the '${scope}' scope`);
      const minter = { parent: parentFor(userId, call), scopes: expandScopes([scope]) };
      const createdBy = call.principal?.id ?? '';
      const also = (id: string) => call.audited({ id, name, scope, userId });
      return tokens.create({ name: checkTokenName(name), scope, expiresInMs, createdBy, minter }, also);
    },
  } satisfies Partial<Handlers>;
}

/**
 * A token that creates another one for its own user is the parent, so the new one ends with it. For another user it would
 * have two parents, the token and that user, and it has room for one.
 */
function parentFor(userId: string, { principal }: Call): Parent {
  const own = principal && minterOf(principal)?.parent;
  if (own?.kind !== 'token') return { kind: 'user', id: userId };
  if (principal?.userId === userId) return own;
  throw new GatewayError(
    'FORBIDDEN',
    'Forbidden: an API token cannot create tokens for other users, because they would outlive it. Log in to create them.',
  );
}

function assignmentMethods(deps: UserMethodDeps) {
  const { users, roles } = deps;
  return {
    'user.role.list': ({ userId }) => ({
      roles: users.rolesOf(userId).map((id) => {
        const { roleId, name, displayName, builtin } = roles.get(id);
        return { roleId, name, displayName, builtin };
      }),
    }),
    'user.role.choices': (_params, { principal }) => ({
      roles: roles.list().map(({ roleId, name, displayName, builtin, permissions }) => ({
        roleId,
        name,
        displayName,
        builtin,
        assignable: holdsAll(principal?.permissions ?? NO_PERMISSIONS, permissions),
      })),
    }),
    'user.role.assign': async ({ userId, roleId }, call) => {
      requireAuthentication(call.principal, 'assign roles');
      users.get(userId);
      const { permissions } = roles.get(roleId);
      requireOther(call, userId, { refusal: OWN_ROLES });
      requireHeld(call, permissions);
      await users.assign(userId, roleId, { by: call.principal?.id ?? '', also: call.audited({ roleId }) });
      return { status: 'ok' };
    },
    'user.role.unassign': async ({ userId, roleId }, call) => {
      users.get(userId);
      requireOther(call, userId, { refusal: OWN_ROLES });
      requireHeld(call, roles.permissionsOf([roleId]));
      await users.unassign(userId, roleId, call.audited({ roleId }));
      return { status: 'ok' };
    },
  } satisfies Partial<Handlers>;
}

const toUser = (person: Person, users: Users): User => ({
  userId: person.userId,
  username: person.username,
  displayName: person.displayName,
  disabled: person.disabled,
  hasPassword: person.hasPassword,
  createdAtMs: person.createdMs,
  lastLoginAtMs: person.lastLoginMs,
  roles: users.rolesOf(person.userId),
});

/** Who administers users may not act on those who may do more. */
export const requireOver = (
  call: Pick<Call, 'principal'>,
  userId: string,
  { roles, users }: Pick<UserMethodDeps, 'roles' | 'users'>,
): void => requireHeld(call, roles.permissionsOf(users.rolesOf(userId)));

const OWN_ROLES = 'Cannot modify own role assignments';

function requireOther(
  { principal }: Pick<Call, 'principal'>,
  userId: string,
  { refusal, code = 'FORBIDDEN' }: { refusal: string; code?: 'FORBIDDEN' | 'INVALID_REQUEST' },
): void {
  if (principal?.userId === userId) throw new GatewayError(code, refusal);
}

/** Of a list of scopes, the one that includes the others. */
function highestOf(scopes: readonly string[]): TokenScope {
  const known = GRANTED.filter((scope) => scopes.includes(scope));
  const [highest] = known.slice(-1);
  if (highest !== undefined && scopes.every((scope) => GRANTED.some((granted) => granted === scope))) return highest;
  throw new GatewayError('INVALID_REQUEST', 'Invalid scopes (allowed: read, write, approve)');
}
