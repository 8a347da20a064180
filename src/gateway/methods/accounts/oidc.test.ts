import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import { minterOfUser } from '../../auth/logins/identify.ts';
import type { OidcLogin } from '../../auth/oidc/oidc-login.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Call } from '../../call.ts';
import { testAccounts } from '../../testing/test-accounts.ts';
import { oidcMethods } from './oidc.ts';

const PERSON = { issuer: 'https://sso.example', subject: 's1' };

test('a login through a provider confirms the session that the browser had when it began, and ends with it', async () => {
  const clock = fakeClock(1_700_000_000_000);
  await using store = await tempStore({ clock });
  using home = tempDir();
  const accounts = await testAccounts({ store, dir: home.path, clock, log: recordingLog() });
  const { users, sessions, authenticator, oidc } = accounts;
  const ada = { username: 'ada', displayName: 'Ada', passwordHash: null, roleIds: ['builtin-viewer'], by: 'test' };
  const { userId } = await users.create(ada, () => []);
  await oidc.identities.add({ ...PERSON, userId }, []);
  let follows: string | undefined;
  const provider: OidcLogin = {
    ...oidc,
    async begin(asked) {
      follows = asked.follows;
      return { url: 'https://sso.example/auth', sealed: 's', expiresAtMs: clock.now() + 1 };
    },
    finish: async () => ({
      ...{ ...PERSON, userId, version: users.versionOf(userId) ?? 0, authenticatedMs: clock.now(), follows },
      ...{ isNew: false, given: [], taken: [] },
    }),
  };
  const methods = oidcMethods({ ...accounts, oidc: provider });
  const call = (principal?: Principal): Call => ({
    ...{ principal, address: '1.2.3.4', signal: new AbortController().signal, interim: () => undefined },
    ...{ kept: undefined, keep: () => [], audited: () => [], momentary: () => undefined, subscriptions: undefined },
    perform: async () => undefined,
  });
  const logIn = async (from?: Principal) => {
    await methods['oidc.authorize']({}, call(from));
    return (await methods['oidc.callback']({ state: 's', code: 'c' }, call())).jwt;
  };
  const { jwt: first } = await sessions.start(minterOfUser(userId, users.versionOf(userId)));
  const before = await authenticator.authenticate(first, 'cookie');
  assert.ok(before?.source.kind === 'login');
  clock.jump(3_600_000);
  const elsewhere = await logIn();
  assert.equal(before.source.proof.isFresh, false);
  const second = await authenticator.authenticate(await logIn(before), 'cookie');
  assert.ok(second?.source.kind === 'login');
  assert.equal(before.source.proof.isFresh, true);
  await sessions.revoke(second.source.jti);
  assert.deepEqual([before.ended.aborted, second.ended.aborted], [true, true]);
  assert.equal((await authenticator.authenticate(elsewhere))?.ended.aborted, false);
});
