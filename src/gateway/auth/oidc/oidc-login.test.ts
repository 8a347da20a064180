import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import { testAccounts, testKey } from '../../testing/test-accounts.ts';
import { OIDC_GIVER } from '../../users/user-rows.ts';
import { createOidcLogin } from './oidc-login.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { fakeProvider, SETTINGS } from './provider-fixture.ts';

async function setUp(settings: Partial<OidcSettings> = {}) {
  const clock = fakeClock(systemClock.now());
  const store = await tempStore({ clock });
  const home = tempDir();
  const log = recordingLog();
  const provider = fakeProvider();
  const accounts = await testAccounts({ store, dir: home.path, clock, log });
  const { users, roles, throttle } = accounts;
  const oidc = createOidcLogin({
    settings: { ...SETTINGS, ...settings },
    ...{ users, roles, throttle, store, key: await testKey(), fetch: provider.fetch, clock, log },
    ids: { secret: (bytes) => '0'.repeat(2 * bytes - 6) + String(clock.monotonic()).padStart(6, '0').slice(-6) },
  });
  const begin = async (isFresh = false, address = '1.2.3.4') => {
    await clock.advance(1); // another id
    const begun = await oidc.begin({ isFresh }, address);
    return { ...begun, query: new URL(begun.url).searchParams };
  };
  const logIn = async (claims: Record<string, unknown> = {}, { isFresh = false, address = '1.2.3.4' } = {}) => {
    const { sealed, query } = await begin(isFresh, address);
    provider.claims = { nonce: query.get('nonce'), ...claims };
    const state = query.get('state') ?? '';
    return oidc.finish(
      {
        sealed,
        state,
        parameters: new Map([
          ['state', state],
          ['code', 'c'],
        ]),
      },
      address,
    );
  };
  const nameOf = async (claims: Record<string, unknown>) => users.get((await logIn(claims)).userId).username;
  return {
    ...{ clock, store, log, provider, users, oidc, begin, logIn, nameOf },
    async [Symbol.asyncDispose]() {
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

const refused = (reason: string) => ({ name: 'GatewayError', details: { reason } });

test('the code is exchanged with the secret of the client and the verifier of the login', async () => {
  await using world = await setUp();
  const { userId, isNew, subject } = await world.logIn();
  assert.deepEqual([isNew, subject, world.users.rolesOf(userId)], [true, 's1', ['builtin-viewer']]);
  const exchange = world.provider.requests.find(({ path }) => path === '/token');
  assert.equal(exchange?.authorization, `Basic ${Buffer.from('headgate:hush').toString('base64')}`);
  assert.deepEqual([exchange?.body.get('code'), exchange?.body.get('code_verifier')?.length], ['c', 43]);
  assert.equal(exchange?.body.has('client_secret'), false);
  await world.logIn();
  const asked = world.provider.requests.filter(({ path }) => path === '/.well-known/openid-configuration');
  assert.equal(asked.length, 1, 'the metadata is read once');
});

test('a provider that takes the secret only in the body gets it there, and a public client has none', async () => {
  await using world = await setUp();
  world.provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
  await world.logIn();
  const [posted] = world.provider.requests.filter(({ path }) => path === '/token');
  assert.deepEqual([posted?.authorization, posted?.body.get('client_secret')], [null, 'hush']);
  await using open = await setUp({ clientSecret: undefined });
  await open.logIn();
  const [bare] = open.provider.requests.filter(({ path }) => path === '/token');
  assert.deepEqual(
    [bare?.authorization, bare?.body.get('client_secret'), bare?.body.get('client_id')],
    [null, null, 'headgate'],
  );
});

test('where first logins create no users, only known people get in', async () => {
  await using world = await setUp({ createUsers: false });
  await assert.rejects(world.logIn(), refused('no_account'));
  assert.equal(world.users.count, 0);
  const person = { displayName: 'A', passwordHash: null, roleIds: ['builtin-operator'], by: 'operator' };
  const { userId } = await world.users.create({ ...person, username: 'ada' }, () => []);
  await world.oidc.identities.add({ issuer: SETTINGS.issuer, subject: 's1', userId }, []);
  assert.deepEqual(await world.logIn().then(({ userId: id, isNew, given }) => [id, isNew, given]), [userId, false, []]);
});

test('people without a role by group are refused where there is no default role, and no user is made', async () => {
  await using world = await setUp({
    roleClaim: 'g',
    roleMap: new Map([['in', 'builtin-operator']]),
    defaultRole: undefined,
  });
  await assert.rejects(world.logIn({ g: ['out'] }), refused('no_role'));
  assert.equal(world.users.count, 0);
  const { userId } = await world.logIn({ g: ['in'] });
  await assert.rejects(world.logIn({ g: [] }), refused('no_role'));
  assert.deepEqual(world.users.rolesOf(userId), [], 'the login took the role away');
});

test('a role that a person assigns over that of the provider stays', async () => {
  await using world = await setUp({ roleClaim: 'g', roleMap: new Map([['ops', 'builtin-operator']]) });
  const { userId } = await world.logIn({ g: ['ops'] });
  const assign = (by: string) => world.users.assign(userId, 'builtin-operator', { by, also: [] });
  await assign('operator');
  await assign(OIDC_GIVER); // is the person's from now on
  await world.logIn({ g: [] });
  assert.deepEqual(world.users.rolesOf(userId), ['builtin-operator', 'builtin-viewer']);
});

test('without a claim for roles, later logins change no roles', async () => {
  await using world = await setUp();
  const { userId } = await world.logIn();
  await world.users.assign(userId, 'builtin-admin', { by: 'operator', also: [] });
  await world.users.unassign(userId, 'builtin-viewer', []);
  await world.logIn();
  assert.deepEqual(world.users.rolesOf(userId), ['builtin-admin']);
});

test('a taken name gets a number, whatever its case, and the mail address connects nobody', async () => {
  await using world = await setUp();
  const person = { displayName: 'A', passwordHash: 'x', roleIds: ['builtin-admin'], by: 'setup' };
  await world.users.create({ ...person, username: 'Ada' }, () => []);
  const email = { email: 'ada@lab.example', email_verified: true };
  assert.deepEqual(
    [
      await world.nameOf({ sub: 'a', preferred_username: 'ADA' }),
      await world.nameOf({ sub: 'b', ...email }),
      await world.nameOf({ sub: 'b', preferred_username: 'Ada' }),
    ],
    ['ADA-2', 'ada-3', 'ada-3'],
  );
});

test('two first logins of one person at once make one user', async () => {
  await using world = await setUp();
  const [one, two] = [await world.begin(), await world.begin()];
  const both = [one, two];
  const finish = (begun: typeof one) => {
    const { sealed, query } = begun;
    const state = query.get('state') ?? '';
    return world.oidc.finish(
      {
        sealed,
        state,
        parameters: new Map([
          ['state', state],
          ['code', String(both.indexOf(begun))],
        ]),
      },
      '1.2.3.4',
    );
  };
  // Each token has the nonce of its own login.
  const nonce = () => both[Number(world.provider.requests.at(-1)?.body.get('code'))]?.query.get('nonce');
  Object.defineProperty(world.provider, 'claims', { get: () => ({ nonce: nonce() }) });
  const entered = await Promise.all([finish(one), finish(two)]);
  assert.equal(new Set(entered.map(({ userId }) => userId)).size, 1);
  assert.equal(world.users.count, 1);
});

test('the time of the login is that of the provider, and never in the future', async () => {
  await using world = await setUp();
  const nowSecs = Math.floor(world.clock.now() / 1_000);
  const at = async (auth_time: unknown, isFresh = false) =>
    (await world.logIn({ auth_time }, { isFresh })).authenticatedMs;
  assert.equal(await at(nowSecs - 3_600), (nowSecs - 3_600) * 1_000);
  assert.equal(await at(undefined), 0, 'the provider may have asked nobody');
  assert.ok((await at(nowSecs + 9_999)) <= world.clock.now());
  await assert.rejects(at(nowSecs - 3_600, true), refused('invalid_token'), 'an old session does not count as fresh');
  await assert.rejects(at(undefined, true), refused('invalid_token'));
  assert.equal(await at(nowSecs - 5, true), (nowSecs - 5) * 1_000);
});

test('a provider without an answer, or with a huge one, is unavailable, and the next attempt asks again', async () => {
  await using world = await setUp();
  const path = '/.well-known/openid-configuration';
  const failures: Record<string, () => Response | Promise<Response>> = {
    'no connection': () => Promise.reject(new TypeError('fetch failed')),
    'no JSON': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    'an error': () => new Response('{}', { status: 500 }),
    'a huge answer': () => new Response(' '.repeat(600 * 1_024), { headers: { 'content-type': 'application/json' } }),
  };
  for (const [name, failure] of Object.entries(failures)) {
    world.provider.answers.set(path, failure);
    await assert.rejects(world.begin(), refused('provider_unavailable'), name);
  }
  world.provider.answers.clear();
  assert.ok((await world.begin()).url);
});

test('an address that brings wrong answers again and again has to wait; other addresses do not', async () => {
  await using world = await setUp();
  const wrong = (address: string) => world.logIn({ aud: 'other' }, { address });
  for (let n = 0; n < 10; n++) await assert.rejects(wrong('9.9.9.9'), refused('invalid_token'));
  await assert.rejects(world.logIn({}, { address: '9.9.9.9' }), refused('rate_limited'));
  assert.ok(await world.logIn());
});

test('an address that only begins logins has to wait after sixty', async () => {
  await using world = await setUp();
  for (let n = 0; n < 60; n++) await world.begin(false, '9.9.9.9');
  await assert.rejects(world.begin(false, '9.9.9.9'), refused('rate_limited'));
  assert.ok(await world.begin());
});

test('a user who was deleted is a new one at the next login; a disabled one is refused', async () => {
  await using world = await setUp();
  const { userId } = await world.logIn();
  await world.users.update(userId, { disabled: true }, []);
  await assert.rejects(world.logIn(), refused('account_disabled'));
  await world.users.remove(userId, []);
  assert.deepEqual(await world.oidc.identities.list(userId), []);
  const again = await world.logIn();
  assert.deepEqual([again.isNew, again.userId === userId], [true, false]);
});
