import { GatewayError } from '../../../protocol/errors.ts';
import { isPermission, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { isPlainName, PLAIN_NAME_RULE } from '../../../protocol/text/plain-text.ts';

/** Shorter passwords are guessed too easily; longer ones cost memory. */
const PASSWORD = { fewest: 8, mostBytes: 1_024 };

/** Throws with the words that clients of the specification expect. */
export function checkUsername(username: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(username)) return username;
  throw new GatewayError('INVALID_REQUEST', 'Invalid username (1-64 chars: letters, digits, . _ -)');
}

export function checkDisplayName(displayName: string): string {
  const name = displayName.trim();
  if (name === '') throw wrongName('is required');
  requirePlain(name);
  if (name.length > 256) throw wrongName('must have at most 256 characters');
  return name;
}

/** A name that is shown to others must not look like another one. */
export function requirePlain(displayName = ''): void {
  if (!isPlainName(displayName)) throw wrongName(PLAIN_NAME_RULE);
}

const wrongName = (problem: string) => wrongField('displayName', problem, { separator: ' ' });

export function checkPassword(password: string): string {
  if ([...password].length < PASSWORD.fewest)
    throw new GatewayError('INVALID_REQUEST', 'Password must be at least 8 characters');
  if (Buffer.byteLength(password) > PASSWORD.mostBytes)
    throw new GatewayError('INVALID_REQUEST', 'Password must be at most 1024 bytes');
  return password;
}

export function checkTokenName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._ -]{0,63}$/.test(name)) return name;
  throw new GatewayError('INVALID_REQUEST', 'Invalid name (1-64 chars: letters, digits, spaces, . _ -)');
}

export function checkRoleName(name: string): void {
  if (/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name)) return;
  throw new GatewayError('INVALID_REQUEST', 'Invalid name (1-64 chars: lower-case letters, digits, -)');
}

/** Without repetitions. */
export function checkPermissions(asked: readonly string[]): Permission[] {
  const unknown = asked.filter((permission) => !isPermission(permission));
  if (unknown.length > 0) throw new GatewayError('INVALID_REQUEST', `Invalid permissions: ${unknown.join(', ')}`);
  return [...new Set(asked.filter(isPermission))];
}
