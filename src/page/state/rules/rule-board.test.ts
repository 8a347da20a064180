import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { RuleBoard } from './rule-board.ts';

test('rules are read, tried without one of them, and deleted', async () => {
  const { client, answer, calls } = createFakeClient();
  const board = new RuleBoard(client);
  answer('rule.list', () => ({ rules: [{ ruleId: 'r1' }] }));
  answer('rule.simulate', () => ({ total: 20, changed: 3, calls: [] }));
  answer('rule.delete', () => ({ status: 'ok' }));
  await board.read();
  assert.deepEqual(board.rules.value, [{ ruleId: 'r1' }]);
  assert.equal(await board.tryWithout('r1'), 'Without it, 3 of the latest 20 calls would have been decided otherwise.');
  answer('rule.list', () => ({ rules: [] }));
  assert.equal(await board.remove('r1'), undefined);
  assert.deepEqual(board.rules.value, []);
  assert.deepEqual(calls.slice(1, 3), [
    ['rule.simulate', { without: ['r1'] }],
    ['rule.delete', { ruleId: 'r1' }],
  ]);
});
