import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('A message must name the user who sent it, and the `client_send_id` it was sent with', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.isIdle(wsId);
  const sent = { wsId, message: 'mine', idempotencyKey: 'tab-1' };
  await gateway.call('workstream.send', sent, { id: 'tok_1', userId: 'user_1' });
  await gateway.isIdle(wsId);
  const turns = (await gateway.events(wsId)).filter((event) => event.type === 'user_turn');
  assert.deepEqual(
    turns.map(({ message, sender, client_send_ids: keys }) => [message, sender, keys]),
    [
      ['hello', undefined, undefined],
      ['mine', 'user_1', ['tab-1']],
    ],
  );
});

test('`status` must have the number of turns of its run and of calls in its answer', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('look'), calling('look'));
  for (const message of ['one', 'two']) await (await gateway.accept(message))?.ended;
  const counted = (await gateway.events(wsId)).filter((event) => event.type === 'status');
  assert.deepEqual(
    counted.map((event) => [event.turn_count, event.tool_calls_this_turn]),
    [
      [1, 2],
      [2, 0],
      [1, 0],
    ],
  );
});

test('The answer whose calls wait for approval must be marked `pending` in the history', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn('I will touch it.', calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'touch it' });
  await gateway.reaches(wsId, 'approve_request');
  const marks = async () => {
    const { messages } = await gateway.call('workstream.history', { wsId });
    return messages.map(({ role, pending }) => [role, pending]);
  };
  assert.deepEqual(await marks(), [
    ['user', undefined],
    ['assistant', true],
  ]);
  await gateway.call('workstream.approve', { wsId, approved: false });
  await gateway.isIdle(wsId);
  assert.deepEqual((await marks())[1], ['assistant', undefined]);
});

test('the states of a run name the user whose message it answers, also after a restart', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const actors = async () => {
    const events = (await gateway.events(wsId)).filter((event) => event.type === 'ws_state');
    return events.map(({ state, acting_user_id }) => [state, acting_user_id]);
  };
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.isIdle(wsId);
  const before = await actors();
  assert.deepEqual(before, [
    ['thinking', undefined],
    ['idle', undefined],
  ]);
  gateway.puppet.turn(calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'touch it' }, { id: 'tok_1', userId: 'user_1' });
  await gateway.reaches(wsId, 'approve_request');
  await gateway.restart();
  await gateway.call('workstream.approve', { wsId, approved: false });
  await gateway.isIdle(wsId);
  const states = (await actors()).slice(before.length);
  assert.deepEqual(new Set(states.map(([, user]) => user)), new Set(['user_1']));
  assert.deepEqual([states[0]?.[0], states.at(-1)?.[0]], ['thinking', 'idle']);
});
