import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { authContracts } from '../../../protocol/methods/accounts/auth.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { testAccounts } from '../testing/test-accounts.ts';

test('a refused login names its user, and keeps nothing else that somebody typed as a name', async () => {
  const clock = fakeClock(1_700_000_000_000);
  await using store = await tempStore({ clock });
  using home = tempDir();
  const { audit, users } = await testAccounts({ store, dir: home.path, clock, log: recordingLog() });
  await users.create({ username: 'Ada', displayName: 'Ada', passwordHash: null, roleIds: [], by: 'test' }, () => []);
  const row = authContracts['auth.login'].audit ?? assert.fail('logins are recorded');
  const caller = {
    ...{ principal: undefined, address: '1.2.3.4', signal: new AbortController().signal },
    ...{ interim: () => undefined, subscriptions: undefined },
  };
  const typed = [{ username: 'ada' }, { username: 'hunter2 hunter2' }, { username: '' }, { token: 'wrong' }];
  for (const input of typed) audit.begin(row, { input, caller }).failed(new GatewayError('UNAUTHORIZED', 'no'));
  const rows = await recorded();
  assert.deepEqual(
    rows.map(({ detail }) => detail),
    [
      { username: 'Ada', code: 'UNAUTHORIZED' },
      { reason: 'unknown user', code: 'UNAUTHORIZED' },
      { code: 'UNAUTHORIZED' },
      { code: 'UNAUTHORIZED' },
    ],
  );
  assert.doesNotMatch(JSON.stringify(await store.db.selectFrom('audit').selectAll().execute()), /hunter2/);

  async function recorded(): Promise<{ detail: unknown }[]> {
    for (let turn = 0; turn < 1_000; turn += 1) {
      const stored = await store.db.selectFrom('audit').selectAll().orderBy('seq').execute();
      if (stored.length === typed.length) {
        return stored.map(({ body_json }) => {
          const { detail } = JSON.parse(body_json) as { detail: string };
          return { detail: JSON.parse(detail) };
        });
      }
      await new Promise(setImmediate);
    }
    return assert.fail('the refusals were not recorded');
  }
});
