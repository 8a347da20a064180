import type { TokenScope } from '../../../protocol/methods/accounts/token.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import type { LoginThrottle } from '../auth/logins/login-throttle.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call } from '../call.ts';
import { authMethods } from '../methods/accounts/auth.ts';
import { tokenMethods } from '../methods/accounts/token.ts';
import { OPERATOR_TOKEN, testAccounts, testKey } from './test-accounts.ts';

/** Tokens, links and logins with a real store and a clock that tests advance; `restart` opens them again. */
export async function openCredentialWorld() {
  const clock = fakeClock(Date.UTC(2030, 0, 1));
  const store = await tempStore({ clock });
  const home = tempDir();
  const key = await testKey();
  const log = recordingLog();
  const open = async () => join(await testAccounts({ store, dir: home.path, key, clock, log }));
  let parts = await open();

  return {
    clock,
    store,
    create: (by: Principal, asked: { name: string; scope: TokenScope; expiresInMs?: number }) =>
      parts.programs['token.create'](asked, callBy(by)),
    refresh: async (by: Principal) => parts.programs['token.refresh']({}, callBy(by)),
    revoke: async (tokenId: string) =>
      parts.programs['token.revoke']({ tokenId }, callBy(await parts.authenticator.authenticate(OPERATOR_TOKEN))),
    async link(by: Principal): Promise<string> {
      const { url } = await parts.people['auth.link']({}, callBy(by));
      return url.split('#login=')[1] ?? '';
    },
    login: async (given: { code: string } | { token: string }) => parts.people['auth.login'](given, callBy(undefined)),
    logout: async (by: Principal) => parts.people['auth.logout']({}, callBy(by)),
    authenticate: async (secret: string) => parts.authenticator.authenticate(secret),
    byCookie: async (secret: string) => parts.authenticator.authenticate(secret, 'cookie'),
    listed: () => parts.tokens.list().length,
    async restart() {
      await parts.stop();
      parts = await open();
    },
    async [Symbol.asyncDispose]() {
      await parts.stop();
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

function join(accounts: Awaited<ReturnType<typeof testAccounts>>) {
  const { tokens, sessions, authenticator } = accounts;
  const stopping = new AbortController();
  const running = [tokens.run(stopping.signal), sessions.run(stopping.signal)];
  return {
    tokens,
    authenticator,
    programs: tokenMethods(accounts),
    people: authMethods({ ...accounts, throttle: NO_THROTTLE }),
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

const NO_THROTTLE: LoginThrottle = { begin: () => ({ kind: 'counted', ended: () => undefined }) };

const callBy = (principal: Principal | undefined): Call => ({
  ...{ principal, address: '127.0.0.1', signal: new AbortController().signal, interim: () => undefined },
  ...{ kept: undefined, keep: () => [], audited: () => [], momentary: () => undefined, subscriptions: undefined },
  perform: async () => undefined,
});
