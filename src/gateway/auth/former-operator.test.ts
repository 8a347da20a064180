import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../store/statements.ts';
import { openCredentialWorld } from '../testing/credential-world.ts';
import { OPERATOR_TOKEN } from '../testing/test-accounts.ts';
import { endFormerOperator } from './former-operator.ts';

const WATCH = {
  ...{ ws_id: 'ws', node_id: 'node', name: 'it', command: 'ls', interval_secs: 60, stop_on: null, max_polls: 9 },
  ...{ poll_count: 1, missed_polls: 0, is_polling: 0, process_json: null, last_output: null, last_exit_code: null },
  ...{ last_poll_ms: null, next_poll_ms: null, active: 0, end_kind: null, end_reason: null, created_ms: 1 },
  ...{ updated_ms: 1, created_by: 'operator', rights: 'approve', sender: null, allowed_json: null, chat_json: null },
  result_json: null,
};
const OTHER_TOKEN = `svc_${'a'.repeat(64)}`;

test('a new operator token revokes everything below the old one; the same token revokes nothing', async () => {
  await using world = await openCredentialWorld();
  const start = (operatorToken: string) => endFormerOperator({ ...world, operatorToken });
  assert.equal(await start(OPERATOR_TOKEN), undefined);
  const operator = (await world.authenticate(OPERATOR_TOKEN)) ?? assert.fail();
  const { token } = await world.create(operator, { name: 'a', scope: 'approve' });
  const principal = (await world.authenticate(token)) ?? assert.fail();
  const child = await world.create(principal, { name: 'b', scope: 'read' });
  const [byToken, byOperator] = [await world.login({ token }), await world.login({ token: OPERATOR_TOKEN })];
  const code = await world.link(operator);
  const secrets = [token, child.token, byToken.jwt, byOperator.jwt];
  const standing = async () => (await Promise.all(secrets.map(world.authenticate))).filter((one) => one !== undefined);

  assert.equal(await start(OPERATOR_TOKEN), undefined);
  await world.restart();
  assert.equal((await standing()).length, 4);
  assert.equal(
    await start(OTHER_TOKEN),
    'The operator token has changed. Everything created with the old one was revoked: API tokens (2), logins, login links, watches and auto-approve.',
  );
  await world.restart();
  assert.deepEqual(await standing(), []);
  await assert.rejects(world.login({ code }), { code: 'UNAUTHORIZED' });
  assert.equal(await start(OTHER_TOKEN), undefined);
  const rows = await world.store.db.selectFrom('api_tokens').select('revoked_ms').execute();
  assert.ok(rows.every(({ revoked_ms }) => revoked_ms !== null));
});

test('a new operator token ends the watches of the old one and drops their results, and those of others stay', async () => {
  await using world = await openCredentialWorld();
  const start = (operatorToken: string) => endFormerOperator({ ...world, operatorToken });
  await start(OPERATOR_TOKEN);
  const fired = '{"text":"it is done"}';
  const rows = [
    { ...WATCH, watch_id: 'active', active: 1, next_poll_ms: 9 },
    { ...WATCH, watch_id: 'fired', end_kind: 'fired', result_json: fired },
    { ...WATCH, watch_id: 'other', active: 1, next_poll_ms: 9, created_by: 'user:ada' },
  ];
  const { store } = world;
  await store.commit({ statements: rows.map((row) => statementOf(build.insertInto('watches').values(row), 1)) });
  await start(OTHER_TOKEN);
  const columns = ['watch_id', 'active', 'next_poll_ms', 'end_kind', 'result_json'] as const;
  const left = await store.db.selectFrom('watches').select(columns).orderBy('watch_id').execute();
  assert.deepEqual(
    left.map((row) => Object.values(row)),
    [
      ['active', 0, null, 'rights', null],
      ['fired', 0, null, 'fired', null],
      ['other', 1, 9, null, null],
    ],
  );
});
