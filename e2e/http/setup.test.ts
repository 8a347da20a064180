import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askApi, told } from '../support/clients/ask-api.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const PASSWORD = 'correct horse';

test('The setup and `POST /v1/api/admin/users` must refuse an invalid name or password with its reason, and create nothing', async () => {
  await using fresh = await startDaemon();
  const good = { username: 'ada', display_name: 'Ada', password: PASSWORD };
  const refusals: [object, string][] = [
    [{}, 'Invalid username (1-64 chars: letters, digits, . _ -)'],
    [{ ...good, username: 'a b' }, 'Invalid username (1-64 chars: letters, digits, . _ -)'],
    [{ ...good, username: 'x'.repeat(65) }, 'Invalid username (1-64 chars: letters, digits, . _ -)'],
    [{ ...good, username: 'адa' }, 'Invalid username (1-64 chars: letters, digits, . _ -)'],
    [{ username: 'ada', password: PASSWORD }, 'display_name is required'],
    [{ ...good, display_name: ' ' }, 'display_name is required'],
    [{ ...good, display_name: null }, 'display_name is required'],
    [{ ...good, password: '1234567' }, 'Password must be at least 8 characters'],
    [{ ...good, password: 'x'.repeat(1_025) }, 'Password must be at most 1024 bytes'],
  ];
  const { token } = fresh;
  for (const [body, error] of refusals)
    assert.deepEqual(
      [
        told(await askApi(fresh, ['POST', 'auth/setup'], { body })),
        told(await askApi(fresh, ['POST', 'admin/users'], { body, token })),
      ],
      [
        [400, error],
        [400, error],
      ],
    );
  assert.equal((await askApi(fresh, ['GET', 'auth/status'])).body.has_users, false);
});

test('Of many setups at once exactly one must succeed', async () => {
  await using fresh = await startDaemon();
  const tries = Array.from({ length: 20 }, (_, n) =>
    askApi(fresh, ['POST', 'auth/setup'], { body: { username: `u${n}`, display_name: 'U', password: PASSWORD } }),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status).sort((a, b) => a - b);
  assert.deepEqual(statuses, [200, ...Array(19).fill(409)]);
});

test('A setup that needs the code must answer 403 without it', async () => {
  await using fresh = await startDaemon({ config: { auth: { setup: 'code' } } });
  const body = { username: 'ada', display_name: 'Ada', password: PASSWORD };
  assert.equal((await askApi(fresh, ['GET', 'auth/status'])).body.setup_code_required, true);
  assert.equal((await askApi(fresh, ['POST', 'auth/setup'], { body })).status, 403);
  assert.equal(
    (await askApi(fresh, ['POST', 'auth/setup'], { body: { ...body, setup_code: 'f'.repeat(32) } })).status,
    403,
  );
  const operator = await fresh.client();
  const { setupCode } = await operator.call('auth.link', {});
  assert.equal((await askApi(fresh, ['POST', 'auth/setup'], { body: { ...body, setup_code: setupCode } })).status, 200);
  assert.equal('setupCode' in (await operator.call('auth.link', {})), false);
});

test('With authentication off the setup and the login must answer 400', async () => {
  await using open = await startDaemon({ args: ['--no-auth'] });
  const body = { username: 'ada', display_name: 'Ada', password: PASSWORD };
  for (const path of ['auth/setup', 'auth/login'])
    assert.deepEqual(told(await askApi(open, ['POST', path], { body })), [400, 'Auth is not enabled']);
});

test('After five wrong passwords further ones must answer 429, while tokens and codes still log in', async () => {
  await using fresh = await startDaemon();
  await askApi(fresh, ['POST', 'auth/setup'], { body: { username: 'ada', display_name: 'A', password: PASSWORD } });
  const wrong = () => askApi(fresh, ['POST', 'auth/login'], { body: { username: 'ada', password: 'wrong' } });
  for (let n = 0; n < 5; n += 1) assert.equal((await wrong()).status, 401);
  const locked = await wrong();
  assert.deepEqual(told(locked), [429, 'Too many login attempts']);
  assert.ok(Number(locked.headers.get('retry-after')) > 0);
  assert.equal((await askApi(fresh, ['POST', 'auth/login'], { body: { token: fresh.token } })).status, 200);
});

test('with authentication off nobody can create rights that would hold once it is on again', async () => {
  await using open = await startDaemon({ args: ['--no-auth'] });
  const refused = [
    askApi(open, ['POST', 'admin/users'], { body: { username: 'eve', display_name: 'Eve', password: PASSWORD } }),
    askApi(open, ['POST', 'admin/roles'], { body: { name: 'all', permissions: 'read' } }),
  ];
  for (const { status, body } of await Promise.all(refused)) {
    assert.equal(status, 403);
    assert.match(body.error, /^Authentication is off\./);
  }
});
