import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('a model and an effort that are chosen during a run count from the next run on, even if the daemon dies meanwhile', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'one' });
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.update', { wsId, model: 'other', effort: 'high' });
  await gateway.crash();
  await gateway.call('workstream.approve', { wsId, approved: true });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.send', { wsId, message: 'two' });
  await gateway.isIdle(wsId);
  assert.deepEqual(
    gateway.puppet.requests.map(({ effort }) => effort),
    ['medium', 'medium', 'high'],
  );
  const rows = await gateway.store.db.selectFrom('usage').select(['model', 'turns']).orderBy('model', 'desc').execute();
  assert.deepEqual(rows, [
    { model: 'puppet/puppet', turns: 2 },
    { model: 'puppet/other', turns: 1 },
  ]);
});
