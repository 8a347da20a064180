import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createHttpClient } from '../protocol/client/http-client.ts';
import { authEndpoints } from '../protocol/http/accounts/auth.ts';
import { userEndpoints } from '../protocol/http/accounts/user.ts';

/** Who the load is: the owner of the machine with the operator token, or a user who has logged in. */
export const CALLERS = ['operator', 'user'] as const;
export type LoadCaller = (typeof CALLERS)[number];

/**
 * What the load sends as its token to the running daemon of a home. A user is a new one with the role that allows everything,
 * so that each call does the same as the operator's; the credential is the JWT of a login, whose session and roles are looked
 * up at each use.
 */
export async function credentialOf(home: string, caller: LoadCaller): Promise<string> {
  const token = (await readFile(path.join(home, 'token'), 'utf8')).trim();
  if (caller === 'operator') return token;
  const { url: baseUrl } = JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8'));
  const http = createHttpClient({ baseUrl, token });
  const [username, password] = [`bench-${randomUUID()}`, randomUUID()];
  await http.call(userEndpoints.create, { username, display_name: 'Bench', password, roles: ['builtin-admin'] });
  const { jwt } = await http.call(authEndpoints.login, { username, password });
  return jwt;
}
