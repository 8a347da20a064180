import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { CheckedClient } from '../support/clients/checked-client.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  /** Connects with a token. */
  open(token: string): Promise<CheckedClient>;
  key(): string;
  /** A login through the provider: what `oidc.callback` needs. */
  answer(begun: Result<'oidc.authorize'>): Promise<ParamsInput<'oidc.callback'>>;
}

const PASSWORD = 'correct horse';

/** A successful call of each method about users, roles, the audit trail and the settings. */
export function accountCases({ call, open, key, answer }: Caller) {
  async function newUser(username = `user-${key().slice(0, 8)}`): Promise<string> {
    return (await call('user.create', { username, displayName: username, password: PASSWORD })).userId;
  }

  /** A user who is connected. */
  async function member() {
    const username = `user-${key().slice(0, 8)}`;
    await newUser(username);
    return open((await call('auth.login', { username, password: PASSWORD })).jwt);
  }

  async function newRole(): Promise<string> {
    return (await call('role.create', { name: `role-${key().slice(0, 8).toLowerCase()}`, permissions: ['read'] }))
      .roleId;
  }

  return {
    'auth.setup': () => call('auth.setup', { username: 'first', displayName: 'The First', password: PASSWORD }), // before any other user
    'auth.whoami': async () => (await member()).ask('auth.whoami', {}),
    'auth.refresh': async () => (await member()).ask('auth.refresh', {}),
    'auth.password': async () => (await member()).ask('auth.password', { current: PASSWORD, new: `${PASSWORD} 2` }),
    'auth.confirm': async () => (await member()).ask('auth.confirm', { password: PASSWORD }),
    async 'token.refresh'() {
      const { token } = await call('token.create', { name: `service-${key()}`, scope: 'service' });
      await (await open(token)).ask('token.refresh', {});
    },
    'user.list': () => call('user.list', {}),
    'user.names': async () => call('user.names', { userIds: [await newUser()] }),
    'user.create': () => newUser(),
    'user.update': async () => call('user.update', { userId: await newUser(), disabled: true }),
    'user.delete': async () => call('user.delete', { userId: await newUser() }),
    'user.token.list': async () => call('user.token.list', { userId: await newUser() }),
    'user.token.create': async () =>
      call('user.token.create', { userId: await newUser(), name: 'ci', scopes: ['read'] }),
    'user.role.list': async () => call('user.role.list', { userId: await newUser() }),
    'user.role.choices': () => call('user.role.choices', {}),
    'user.role.assign': async () => call('user.role.assign', { userId: await newUser(), roleId: 'builtin-operator' }),
    'user.role.unassign': async () => call('user.role.unassign', { userId: await newUser(), roleId: 'builtin-viewer' }),
    'oidc.authorize': () => call('oidc.authorize', {}),
    'oidc.callback': async () => call('oidc.callback', await answer(await call('oidc.authorize', {}))),
    'oidc.identity.list': async () => call('oidc.identity.list', { userId: await newUser() }),
    'oidc.identity.add': async () => call('oidc.identity.add', { userId: await newUser(), subject: key() }),
    async 'oidc.identity.remove'() {
      const { issuer, subject } = await call('oidc.identity.add', { userId: await newUser(), subject: key() });
      await call('oidc.identity.remove', { issuer, subject });
    },
    'role.list': () => call('role.list', {}),
    'role.create': () => newRole(),
    'role.update': async () => call('role.update', { roleId: await newRole(), permissions: ['read', 'write'] }),
    'role.delete': async () => call('role.delete', { roleId: await newRole() }),
    'org.list': () => call('org.list', {}),
    'org.get': () => call('org.get', { orgId: 'default' }),
    'org.update': () => call('org.update', { orgId: 'default', displayName: 'The Lab', settings: '{"a":1}' }),
    'audit.list': () => call('audit.list', {}),
    'usage.report': () => call('usage.report', { groupBy: 'hour' }),
    'audit.verify': () => call('audit.verify', {}),
    'settings.list': () => call('settings.list', {}),
    'settings.schema': () => call('settings.schema', {}),
    'settings.set': () => call('settings.set', { key: 'cron.maxConcurrentRuns', value: 3 }),
    async 'settings.reset'() {
      await call('settings.set', { key: 'heartbeatMinutes', value: 0 });
      await call('settings.reset', { key: 'heartbeatMinutes' });
    },
    'config.reload': () => call('config.reload', {}),
  };
}
