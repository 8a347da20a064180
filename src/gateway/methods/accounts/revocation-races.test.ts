import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import type { Principal } from '../../auth/principal.ts';
import { RightsChanged } from '../../auth/rights-changed.ts';
import type { Call } from '../../call.ts';
import { OPERATOR_TOKEN, testAccounts } from '../../testing/test-accounts.ts';
import type { Passwords } from '../../users/passwords.ts';
import { authMethods } from './auth.ts';
import { tokenMethods } from './token.ts';
import { userMethods } from './user.ts';

const OLD = 'correct horse';
const NEW = 'battery staple';

/** Passwords whose work can be held back, as Argon2id takes its time. */
function heldPasswords() {
  let gate: Promise<void> | undefined;
  let reached: (() => void) | undefined;
  const pass = async () => {
    reached?.();
    await gate;
  };
  const passwords: Passwords = {
    waiting: () => 0,
    async hash(password) {
      await pass();
      return `plain:${password}`;
    },
    async matches(password, stored) {
      await pass();
      return stored === `plain:${password}`;
    },
  };
  return {
    passwords,
    /** From now on, work waits until it is let go. Resolves `begun` when some does. */
    hold() {
      const letGo = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      gate = letGo.promise;
      reached = begun.resolve;
      return {
        begun: begun.promise,
        letGo() {
          gate = undefined;
          reached = undefined;
          letGo.resolve();
        },
      };
    },
  };
}

async function setUp() {
  const clock = fakeClock(1_700_000_000_000);
  const store = await tempStore({ clock });
  const home = tempDir();
  let areLoginsFull = false;
  const failing: typeof store = Object.create(store, {
    commit: {
      value: (unit: Parameters<typeof store.commit>[0]) =>
        areLoginsFull && unit.statements?.some(({ sql }) => /^insert into "?login_sessions/.test(sql))
          ? Promise.reject(new Error('disk full'))
          : store.commit(unit),
    },
  });
  const { passwords, hold } = heldPasswords();
  const accounts = await testAccounts({ store: failing, dir: home.path, clock, log: recordingLog(), passwords });
  const { authenticator, users, sessions } = accounts;
  const methods = { ...authMethods(accounts), ...userMethods(accounts), ...tokenMethods(accounts) };
  const call = (principal?: Principal): Call => ({
    ...{ principal, address: '1.2.3.4', signal: new AbortController().signal, interim: () => undefined },
    ...{ kept: undefined, keep: () => [], audited: () => [], momentary: () => undefined, subscriptions: undefined },
    perform: async () => undefined,
  });
  const as = async (token: string) => call(await authenticator.authenticate(token));
  const { userId } = await users.create(
    { username: 'ada', displayName: 'Ada', passwordHash: `plain:${OLD}`, roleIds: ['builtin-admin'], by: 'test' },
    () => [],
  );
  const logIn = async (password = OLD) => methods['auth.login']({ username: 'ada', password }, call());
  return {
    ...{ clock, store, users, sessions, authenticator, methods, call, as, userId, logIn, hold },
    /** From now on, no login can be stored. */
    failLogins() {
      areLoginsFull = true;
    },
    isValid: async (token: string) => (await authenticator.authenticate(token)) !== undefined,
    changePassword: (password = NEW) => users.update(userId, { passwordHash: `plain:${password}` }, []),
    async [Symbol.asyncDispose]() {
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

test('a login with the earlier password does not survive its change', async () => {
  await using world = await setUp();
  const { begun, letGo } = world.hold();
  const login = world.logIn();
  await begun;
  await world.changePassword();
  letGo();
  await assert.rejects(login, { code: 'UNAUTHORIZED', message: 'Invalid credentials' });
  assert.equal((await world.logIn(NEW)).status, 'ok');
});

test('a session does not start with a version of the user that has passed, also if it passes during the start', async () => {
  await using world = await setUp();
  const parent = { kind: 'user', id: world.userId } as const;
  const minter = { parent, scopes: new Set(['read' as const]), version: world.users.versionOf(world.userId) };
  const [during] = await Promise.allSettled([world.sessions.start(minter), world.changePassword()]);
  if (during.status === 'fulfilled') assert.equal(await world.isValid(during.value.jwt), false);
  await assert.rejects(world.sessions.start(minter), { code: 'UNAUTHORIZED' });
});

test('a login link made before a change of the password does not log in after it', async () => {
  await using world = await setUp();
  const { jwt } = await world.logIn();
  const { url } = await world.methods['auth.link']({}, await world.as(jwt));
  await world.changePassword();
  const code = url.split('#login=')[1] ?? '';
  await assert.rejects(async () => world.methods['auth.login']({ code }, world.call()), { code: 'UNAUTHORIZED' });
});

test('a confirmation with the earlier password does not survive its change', async () => {
  await using world = await setUp();
  const { jwt } = await world.logIn();
  const confirming = await world.as(jwt);
  const { begun, letGo } = world.hold();
  const confirmed = world.methods['auth.confirm']({ password: OLD }, confirming);
  await begun;
  await world.changePassword();
  letGo();
  await assert.rejects(async () => confirmed, { code: 'FORBIDDEN', message: 'The password is wrong' });
});

test('a change of one’s own password does not undo the change by an administrator', async () => {
  await using world = await setUp();
  const { jwt } = await world.logIn();
  const caller = await world.as(jwt);
  const comparing = world.hold();
  const compared = world.methods['auth.password']({ current: OLD, new: 'of the thief' }, caller);
  await comparing.begun;
  await world.changePassword();
  comparing.letGo();
  await assert.rejects(async () => compared, { code: 'FORBIDDEN' });

  const later = await world.as((await world.logIn(NEW)).jwt);
  const version = world.users.versionOf(world.userId) ?? 0;
  await world.changePassword('third one');
  const chosen = { passwordHash: 'plain:of the thief', version };
  await assert.rejects(world.users.setOwnPassword(world.userId, chosen, []), { code: 'UNAUTHORIZED' });
  await assert.rejects(async () => world.methods['auth.refresh']({}, later), { code: 'UNAUTHORIZED' });
  assert.equal((await world.logIn('third one')).status, 'ok');
});

test('a new name at the same moment does not restore the earlier password', async () => {
  await using world = await setUp();
  const [, renamed] = await Promise.all([
    world.changePassword(),
    world.users.update(world.userId, { displayName: 'Countess' }, []),
  ]);
  assert.equal(renamed.displayName, 'Countess');
  const stored = await world.store.db.selectFrom('users').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([stored.password_hash, stored.version], [`plain:${NEW}`, 2]);
  await assert.rejects(world.logIn(), { code: 'UNAUTHORIZED' });
});

test('whoever loses rights while a password is being hashed neither adds users nor changes passwords', async () => {
  await using world = await setUp();
  const { userId: bob } = await world.users.create(
    { username: 'bob', displayName: 'Bob', passwordHash: null, roleIds: ['builtin-viewer'], by: 'test' },
    () => [],
  );
  const acts = {
    create: (caller: Call) =>
      world.methods['user.create'](
        { username: 'eve', displayName: 'Eve', password: NEW, roles: ['builtin-viewer'] },
        caller,
      ),
    update: (caller: Call) => world.methods['user.update']({ userId: bob, password: NEW }, caller),
  };
  for (const act of Object.values(acts)) {
    await world.users.assign(world.userId, 'builtin-admin', { by: 'test', also: [] });
    const caller = await world.as((await world.logIn()).jwt);
    const { begun, letGo } = world.hold();
    const acting = act(caller);
    await begun;
    await world.users.unassign(world.userId, 'builtin-admin', []);
    assert.ok(caller.principal?.ended.reason instanceof RightsChanged);
    letGo();
    await assert.rejects(async () => acting, { code: 'UNAVAILABLE' });
  }
  assert.deepEqual([world.users.findLogin('eve'), world.users.findLogin('bob')?.passwordHash], [undefined, null]);
});

test('nobody changes the password of a user who is given more rights while it is being hashed', async () => {
  await using world = await setUp();
  await world.users.unassign(world.userId, 'builtin-admin', []);
  await world.users.assign(world.userId, 'builtin-operator', { by: 'test', also: [] });
  const { userId: bob } = await world.users.create(
    { username: 'bob', displayName: 'Bob', passwordHash: null, roleIds: ['builtin-viewer'], by: 'test' },
    () => [],
  );
  const caller = await world.as((await world.logIn()).jwt);
  const { begun, letGo } = world.hold();
  const acting = world.methods['user.update']({ userId: bob, password: NEW }, caller);
  await begun;
  await world.users.assign(bob, 'builtin-admin', { by: 'test', also: [] });
  letGo();
  await assert.rejects(async () => acting, { code: 'FORBIDDEN' });
});

test('guesses of a logged-in user and at the login form count together', async () => {
  await using world = await setUp();
  const caller = await world.as((await world.logIn()).jwt);
  const guess = async (by: 'login' | 'confirm' | 'password') => {
    if (by === 'login') return world.logIn('guess');
    if (by === 'confirm') return world.methods['auth.confirm']({ password: 'guess' }, caller);
    return world.methods['auth.password']({ current: 'guess', new: NEW }, caller);
  };
  // Each guess comes from another address, so only those at the account count.
  let count = 0;
  for (const by of ['login', 'confirm', 'password', 'login', 'password'] as const) {
    caller.address = `10.0.${count++}.1`;
    await assert.rejects(guess(by), ({ code }: { code: string }) => code === 'FORBIDDEN' || code === 'UNAUTHORIZED');
  }
  caller.address = '10.1.0.1';
  for (const by of ['login', 'confirm', 'password'] as const) await assert.rejects(guess(by), { code: 'RATE_LIMITED' });
});

test('a token that an API token makes for its own user ends with it', async () => {
  await using world = await setUp();
  const { userId } = world;
  const asked = { userId, scopes: ['approve'] as string[] };
  const session = await world.as((await world.logIn()).jwt);
  const first = await world.methods['user.token.create']({ ...asked, name: 'a', expiresInMs: 86_400_000 }, session);
  // Directly, and in a login that a link of the token started.
  const { url } = await world.methods['auth.link']({}, await world.as(first.token));
  const { jwt } = await world.methods['auth.login']({ code: url.split('#login=')[1] ?? '' }, world.call());
  const made = await Promise.all(
    [first.token, jwt].map(async (by, n) =>
      world.methods['user.token.create']({ ...asked, name: `b${n}` }, await world.as(by)),
    ),
  );
  assert.deepEqual(
    made.map(({ expiresAtMs }) => expiresAtMs),
    [first.expiresAtMs, first.expiresAtMs],
  );
  await world.methods['token.revoke']({ tokenId: first.tokenId }, session);
  for (const { token } of made) assert.equal(await world.isValid(token), false);
});

test('an API token makes no tokens for other users; a login and the operator token do', async () => {
  await using world = await setUp();
  const { userId: bob } = await world.users.create(
    { username: 'bob', displayName: 'Bob', passwordHash: null, roleIds: ['builtin-viewer'], by: 'test' },
    () => [],
  );
  const operator = await world.as(OPERATOR_TOKEN);
  const session = await world.as((await world.logIn()).jwt);
  const make = async (name: string, caller: Call) => world.methods['user.token.create']({ userId: bob, name }, caller);
  const [ofAda, ofOperator] = await Promise.all([
    world.methods['user.token.create']({ userId: world.userId, name: 'ci' }, session),
    world.methods['token.create']({ name: 'ops', scope: 'approve' }, operator),
  ]);
  for (const { token } of [ofAda, ofOperator])
    await assert.rejects(make('x', await world.as(token)), {
      code: 'FORBIDDEN',
      message: /cannot create tokens for other users/,
    });
  assert.deepEqual([(await make('y', session)).userId, (await make('z', operator)).userId], [bob, bob]);
});

test('a changed password ends the other logins, also if the login that replaces them cannot be stored', async () => {
  await using world = await setUp();
  const [mine, other] = [await world.logIn(), await world.logIn()];
  const open = (await world.authenticator.authenticate(other.jwt)) ?? assert.fail('not logged in');
  const caller = await world.as(mine.jwt);
  world.failLogins();
  await assert.rejects(async () => world.methods['auth.password']({ current: OLD, new: NEW }, caller), /disk full/);
  await new Promise(setImmediate);
  assert.deepEqual([open.ended.aborted, caller.principal?.ended.aborted], [true, true]);
  assert.equal(world.users.findLogin('ada')?.passwordHash, `plain:${NEW}`);
});
