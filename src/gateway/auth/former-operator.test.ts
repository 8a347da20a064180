import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCredentialWorld } from '../testing/credential-world.ts';
import { OPERATOR_TOKEN } from '../testing/test-accounts.ts';
import { endFormerOperator } from './former-operator.ts';

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
    'The operator token has changed. Everything created with the old one was revoked: API tokens (2), logins, login links and auto-approve.',
  );
  await world.restart();
  assert.deepEqual(await standing(), []);
  await assert.rejects(world.login({ code }), { code: 'UNAUTHORIZED' });
  assert.equal(await start(OTHER_TOKEN), undefined);
  const rows = await world.store.db.selectFrom('api_tokens').select('revoked_ms').execute();
  assert.ok(rows.every(({ revoked_ms }) => revoked_ms !== null));
});
