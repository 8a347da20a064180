import type { Stage } from '../daemon/stage.ts';
import { readBody } from './read-body.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the wire carries; tests compare it.
  body: any;
}

/** Calls with a credential: `call('GET /v1/api/memories')`. */
export type Caller = (call: string, body?: object) => Promise<Answer>;

const PASSWORD = 'correct horse';

/** The operator of a daemon, and users that log in to it, over raw HTTP. */
export function callersOf(daemon: Stage['daemon']) {
  const callerWith =
    (token: string): Caller =>
    async (call, body) => {
      const [method = '', route = ''] = call.split(' ');
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await daemon.fetch(route, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return { status: response.status, body: await readBody(response) };
    };
  const operator = callerWith(daemon.token);
  /** Adds a user, and logs in. */
  async function newUser(username: string, roles: readonly string[]): Promise<{ id: string; call: Caller }> {
    const person = { username, display_name: username, password: PASSWORD, roles };
    const made = await operator('POST /v1/api/admin/users', person);
    const { body } = await operator('POST /v1/api/auth/login', { username, password: PASSWORD });
    return { id: made.body.user_id, call: callerWith(body.jwt) };
  }
  return { operator, newUser };
}
