import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { readPassword } from '../../input/read-password.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

interface UserCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface AddFlags extends TargetFlags {
  name?: string;
  role?: string[];
}

const PAGE = 1_000;

/** Adds a user; the password is asked for, or read from stdin. */
export async function addUser(username: string, command: UserCommand<AddFlags>): Promise<void> {
  const { name: displayName = username, role } = command.flags;
  const password = await readPassword();
  await ask(command, async (client) => {
    const roles = role && (await rolesNamed(role, client)).map(({ roleId }) => roleId);
    const user = await client.call('user.create', { username, displayName, password, roles });
    process.stderr.write(`Added ${user.username} (${user.roles.join(', ') || 'no roles'}).\n`);
  });
}

export async function listUsers(command: UserCommand<TargetFlags & { json?: boolean }>): Promise<void> {
  const [users, roles] = await ask(command, async (client) => [await allUsers(client), await rolesOf(client)] as const);
  if (command.flags.json) process.stdout.write(`${JSON.stringify(users, null, 2)}\n`);
  else if (users.length === 0)
    process.stderr.write('No users. The operator token is no user. Add one with: headgate user add NAME\n');
  else process.stdout.write(toTable(users, roles));
}

/** Sets a password; the logins of the user end. */
export async function setPassword(which: string, command: UserCommand): Promise<void> {
  const password = await readPassword();
  await ask(command, async (client) => {
    const { userId, username } = await userNamed(which, client);
    await client.call('user.update', { userId, password });
    process.stderr.write(`The password of ${username} is changed; all logins of ${username} have ended.\n`);
  });
}

export async function setDisabled(which: string, disabled: boolean, command: UserCommand): Promise<void> {
  await ask(command, async (client) => {
    const { userId, username } = await userNamed(which, client);
    await client.call('user.update', { userId, disabled });
    process.stderr.write(
      disabled
        ? `${username} is disabled: logins and tokens of ${username} no longer work.\n`
        : `${username} is enabled and can log in again.\n`,
    );
  });
}

export async function removeUser(which: string, command: UserCommand): Promise<void> {
  await ask(command, async (client) => {
    const { userId, username } = await userNamed(which, client);
    await client.call('user.delete', { userId });
    process.stderr.write(`${username} is deleted, with all logins and tokens.\n`);
  });
}

export interface RoleFlags extends TargetFlags {
  remove?: boolean;
}

/** Shows the roles of a user, or gives or takes one. */
export async function userRole(
  which: string,
  named: string | undefined,
  command: UserCommand<RoleFlags>,
): Promise<void> {
  await ask(command, async (client) => {
    const { userId, username } = await userNamed(which, client);
    if (named === undefined) {
      const { roles } = await client.call('user.role.list', { userId });
      process.stdout.write(roles.map(({ name, displayName }) => `${name}  ${toSafeText(displayName)}\n`).join(''));
      return;
    }
    const [role] = await rolesNamed([named], client);
    const roleId = role?.roleId ?? '';
    await client.call(command.flags.remove ? 'user.role.unassign' : 'user.role.assign', { userId, roleId });
    process.stderr.write(`${username} ${command.flags.remove ? 'no longer has' : 'now has'} the role ${named}.\n`);
  });
}

export interface IdentityFlags extends TargetFlags {
  issuer?: string;
  remove?: boolean;
}

/** Shows who at the provider logs in as a user, or lets a person of the provider do so, or ends that. */
export async function userIdentity(
  which: string,
  subject: string | undefined,
  command: UserCommand<IdentityFlags>,
): Promise<void> {
  const { issuer: asked, remove = false } = command.flags;
  if (remove && subject === undefined) throw new UsageError('--remove needs the SUBJECT to remove.');
  await ask(command, async (client) => {
    const { userId, username, hasPassword } = await userNamed(which, client);
    const { identities } = await client.call('oidc.identity.list', { userId });
    if (subject === undefined) return showIdentities(identities, { username, hasPassword });
    if (!remove) {
      const { issuer } = await client.call('oidc.identity.add', { userId, issuer: asked, subject });
      process.stderr.write(`${subject} of ${toSafeText(issuer)} now logs in as ${username}.\n`);
      return;
    }
    const issuer = issuerOf(subject, identities, { asked, username });
    await client.call('oidc.identity.remove', { issuer, subject });
    process.stderr.write(
      `${subject} of ${toSafeText(issuer)} no longer logs in as ${username}; all logins of ${username} have ended.\n`,
    );
  });
}

function showIdentities(
  identities: readonly OidcIdentity[],
  { username, hasPassword }: { username: string; hasPassword: boolean },
): void {
  const password = hasPassword ? `${username} has a password.` : `${username} has no password.`;
  if (identities.length === 0)
    return void process.stderr.write(`${password} Nobody at a provider logs in as ${username}.\n`);
  process.stderr.write(`${password}\n`);
  process.stdout.write(
    toTextTable([
      ['SUBJECT', 'ISSUER', 'SINCE', 'LAST LOGIN'],
      ...identities.map(({ subject, issuer, createdAtMs, lastLoginAtMs }) => [
        toSafeText(subject),
        toSafeText(issuer),
        toMinute(createdAtMs),
        lastLoginAtMs === null ? 'never' : toMinute(lastLoginAtMs),
      ]),
    ]),
  );
}

/** The issuer of the identity that is meant. Two providers may have the same subject. */
function issuerOf(
  subject: string,
  identities: readonly OidcIdentity[],
  { asked, username }: { asked: string | undefined; username: string },
): string {
  const found = identities.filter((each) => each.subject === subject && (asked === undefined || each.issuer === asked));
  const [only] = found;
  if (only === undefined)
    throw new NotFoundError(`No such identity. List those of ${username} with: headgate user identity ${username}`);
  if (found.length > 1)
    throw new UsageError(`Several providers have the subject "${subject}". Name one with --issuer.`);
  return only.issuer;
}

async function ask<T>({ flags, around, root }: UserCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}

async function allUsers(client: GatewayClient): Promise<User[]> {
  const found: User[] = [];
  for (;;) {
    const { users, total } = await client.call('user.list', { limit: PAGE, offset: found.length });
    found.push(...users);
    if (users.length === 0 || found.length >= total) return found;
  }
}

const rolesOf = async (client: GatewayClient): Promise<Role[]> => (await client.call('role.list', {})).roles;

/** By name, in upper or lower case, or by id. */
async function userNamed(which: string, client: GatewayClient): Promise<User> {
  const name = which.toLowerCase();
  const user = (await allUsers(client)).find(
    ({ userId, username }) => userId === which || username.toLowerCase() === name,
  );
  if (user === undefined) throw new NotFoundError(`Unknown user "${which}". List users with: headgate user list`);
  return user;
}

async function rolesNamed(names: readonly string[], client: GatewayClient): Promise<Role[]> {
  const roles = await rolesOf(client);
  return names.map((name) => {
    const role = roles.find((each) => each.name === name || each.roleId === name);
    if (role) return role;
    throw new NotFoundError(`Unknown role "${name}". Roles: ${roles.map((each) => each.name).join(', ')}`);
  });
}

const toMinute = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

function toTable(users: readonly User[], roles: readonly Role[]): string {
  const nameOf = (roleId: string) => roles.find((role) => role.roleId === roleId)?.name ?? roleId;
  return toTextTable([
    ['USERNAME', 'NAME', 'ROLES', 'STATE', 'PASSWORD', 'LAST LOGIN', 'ID'],
    ...users.map(({ username, displayName, roles: held, disabled, hasPassword, lastLoginAtMs, userId }) => [
      username,
      toSafeText(displayName),
      held.map(nameOf).join(', ') || '–',
      disabled ? 'disabled' : 'enabled',
      hasPassword ? 'yes' : 'none',
      lastLoginAtMs === null ? 'never' : toMinute(lastLoginAtMs),
      userId,
    ]),
  ]);
}
