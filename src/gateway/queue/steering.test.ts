import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seen, sent } from '../cuts/take-back-fixture.ts';
import { calling, type Move } from '../testing/puppet-model.ts';
import { type CallAs, callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** A run whose first turn goes on until `answer`, and then makes the moves; afterwards the model says what the test scripts. */
async function running(gateway: WholeGateway, ...moves: Move[]) {
  const wsId = await gateway.main();
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.puppet.turn(promise, ...moves);
  await gateway.call('workstream.send', { wsId, message: 'first', idempotencyKey: 'first' });
  await turnsUntil(() => gateway.puppet.requests.length === 1, 'the first request');
  const give = (message: string, how: { queue: true } | { steer: true }, as: CallAs = {}) =>
    gateway.call('workstream.send', { wsId, message, idempotencyKey: message, ...how }, as);
  return {
    wsId,
    queue: (message: string, as?: CallAs) => give(message, { queue: true }, as),
    steer: (message: string, as?: CallAs) => give(message, { steer: true }, as),
    async ended() {
      resolve();
      await gateway.isIdle(wsId);
    },
    answer: () => resolve(),
  };
}

const waitingIn = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.call('queue.list', { wsId })).messages.map(({ message, steer }) => (steer ? `>${message}` : message));

test('a steering message reaches the model after the results, in the run in progress', async () => {
  await using gateway = await wholeGateway();
  const { wsId, queue, steer, ended } = await running(gateway, calling('look'));
  await queue('later');
  await steer('now');
  assert.deepEqual(await waitingIn(gateway, wsId), ['>now', 'later']);
  gateway.puppet.turn('steered');
  await ended();
  const asked = gateway.puppet.requests.map(({ messages }) => messages.map(({ role }) => role).join());
  assert.deepEqual(asked, ['user', 'user,assistant,tool,user', 'user,assistant,tool,user,assistant,user']);
  const shown = await seen(gateway);
  assert.deepEqual(shown.slice(3), ['4 now', '5 steered', '6 later', '7 ok']);
  const turns = (await gateway.events(wsId)).filter((event) => event.type === 'user_turn');
  assert.deepEqual(
    turns.map(({ message, run_id, steered_run_id, seq }) => [message, run_id, steered_run_id, seq]),
    [
      ['first', 'first', undefined, 1],
      ['now', 'first', 'now', 4],
      ['later', 'later', undefined, 6],
    ],
  );
});

test('a waiting message can be steered later, and several keep their order', async () => {
  await using gateway = await wholeGateway();
  const { wsId, queue, ended } = await running(gateway, calling('look'));
  for (const message of ['a', 'b', 'c']) await queue(message);
  const rights = { scope: 'write' } as const;
  for (const runId of ['c', 'b', 'b']) await gateway.call('queue.steer', { wsId, runId }, rights);
  assert.deepEqual(await waitingIn(gateway, wsId), ['>b', '>c', 'a']);
  await gateway.call('queue.move', { wsId, runId: 'c', to: 0 });
  await gateway.call('queue.move', { wsId, runId: 'a', to: 0 });
  assert.deepEqual(await waitingIn(gateway, wsId), ['>c', '>b', 'a']);
  await gateway.call('queue.edit', { wsId, runId: 'b', message: 'bee' });
  await ended();
  assert.deepEqual((await seen(gateway)).slice(3), ['4 c', '5 bee', '6 ok', '7 a', '8 ok']);
});

test('a steering message waits while a person is asked', async () => {
  await using gateway = await wholeGateway();
  const { wsId, steer, answer } = await running(gateway, calling('touch'));
  answer();
  await gateway.reaches(wsId, 'approve_request');
  await steer('now');
  assert.deepEqual(await waitingIn(gateway, wsId), ['>now']);
  await gateway.call('workstream.approve', { wsId, approved: true, feedback: 'careful' });
  await gateway.isIdle(wsId);
  assert.deepEqual(sent(gateway)?.slice(3), ['careful', 'now']);
});

test('if the run ends without another turn, the message is sent next', async () => {
  await using gateway = await wholeGateway();
  const { queue, steer, ended } = await running(gateway, 'done');
  await queue('later');
  await steer('now');
  await ended();
  assert.deepEqual(await seen(gateway), ['1 first', '2 done', '3 now', '4 ok', '5 later', '6 ok']);
});

test('a steering message starts a run if nothing runs', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const { status } = await gateway.call('workstream.send', { wsId, message: 'now', steer: true });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.command', { wsId, command: '/steer again' });
  await gateway.isIdle(wsId);
  assert.deepEqual([status, await seen(gateway)], ['ok', ['1 now', '2 ok', '3 again', '4 ok']]);
});

test('a process that dies anywhere after the acceptance answers each message once', async () => {
  let writes = 1;
  for (let isDone = false; !isDone; writes += 1) {
    await using gateway = await wholeGateway();
    const { wsId, queue, steer, answer } = await running(gateway, calling('look'));
    await queue('later');
    await steer('now');
    let left = writes;
    gateway.disk.diesAt = () => {
      left -= 1;
      return left <= 0;
    };
    answer();
    await turnsUntil(() => left <= 0 || !gateway.mainWorkstream().busy, 'the end of the process, or of its work');
    isDone = left > 0;
    await gateway.crash();
    await gateway.isIdle(wsId);
    const events = await gateway.events(wsId);
    const told = events.flatMap((event) => (event.type === 'user_turn' ? [event.message] : []));
    assert.deepEqual(told, ['first', 'now', 'later'], `write ${writes}`);
    const { messages } = await gateway.call('workstream.history', { wsId });
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    assert.deepEqual(said, ['first', 'now', 'later'], `write ${writes}`);
    const after = messages.findIndex(({ content }) => content === 'now') + 1;
    assert.equal(messages[after]?.role, 'assistant', `write ${writes}`);
    for (const runId of ['first', 'now', 'later'])
      assert.equal((await gateway.call('agent.wait', { runId })).status, 'ok', `write ${writes}: ${runId}`);
  }
  assert.ok(writes > 8, `${writes} writes`);
});

test('a step that the disk refuses leaves the message in the queue, and it is sent next', async () => {
  await using gateway = await wholeGateway();
  const { steer, ended } = await running(gateway, calling('look'));
  await steer('now');
  let refused = 0;
  gateway.disk.fails = ({ events }) => {
    const isSteered = events?.events.some((event) => event.type === 'user_turn' && event.steered_run_id) ?? false;
    refused += Number(isSteered);
    return isSteered;
  };
  await ended();
  assert.deepEqual([refused, (await seen(gateway)).slice(3)], [1, ['4 now', '5 ok']]);
});

test('whoever waits for the message gets the end of the run that took it', async () => {
  await using gateway = await wholeGateway();
  const { wsId, steer, answer } = await running(gateway, calling('look'));
  await steer('now');
  const last = Promise.withResolvers<void>();
  gateway.puppet.turn(last.promise, 'the end');
  answer();
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the second request');
  let isAnswered = false;
  const waited = gateway.call('agent.wait', { runId: 'now' }).finally(() => {
    isAnswered = true;
  });
  await new Promise(setImmediate);
  assert.equal(isAnswered, false);
  last.resolve();
  assert.equal((await waited).status, 'ok');
  await gateway.restart();
  const { endedAt } = await gateway.call('agent.wait', { runId: 'first' });
  assert.equal((await gateway.call('agent.wait', { runId: 'now' })).endedAt, endedAt);
  assert.equal((await gateway.call('workstream.get', { wsId })).snapshot.workstream.state, 'idle');
});

test('after a message of a caller without the approve scope, auto-approve no longer covers the run', async () => {
  for (const scope of ['approve', 'write'] as const) {
    await using gateway = await wholeGateway();
    const { wsId, steer, answer } = await running(gateway, calling('touch'));
    await gateway.call('workstream.update', { wsId, autoApprove: true });
    await steer('now', { scope, id: 'bob' });
    gateway.puppet.turn(calling('touch', {}, 'call_2'));
    answer();
    if (scope === 'approve') await gateway.isIdle(wsId);
    else await gateway.reaches(wsId, 'approve_request');
    await gateway.restart();
    const asked = (await gateway.events(wsId)).filter(({ type }) => type === 'approve_request');
    assert.equal(asked.length, scope === 'approve' ? 0 : 1);
    const { state } = (await gateway.call('workstream.get', { wsId })).snapshot.workstream;
    assert.equal(state, scope === 'approve' ? 'idle' : 'attention');
  }
});

test('a snapshot during the steered turn has the message, and its stream goes on with the answer', async () => {
  await using gateway = await wholeGateway();
  const { wsId, steer, answer } = await running(gateway, calling('look'));
  await steer('now');
  gateway.puppet.turn('part', new Promise(() => undefined));
  answer();
  await gateway.reaches(wsId, 'content');
  const expected = ['first', null, 'looked', 'now'];
  const contents = async () =>
    (await gateway.call('workstream.get', { wsId })).snapshot.messages.map(({ content }) => content);
  assert.deepEqual(
    (await contents()).slice(0, 4).map((text, at) => (at === 2 ? 'looked' : text)),
    expected,
  );
  await gateway.crash();
  await gateway.reaches(wsId, 'stream_end', 2);
  assert.equal((await contents())[3], 'now');
});

test('a steering message can be taken back, edited and tried again without what came before it', async () => {
  await using gateway = await wholeGateway();
  const { wsId, steer, ended } = await running(gateway, calling('look'));
  await steer('now');
  await ended();
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  assert.deepEqual((await seen(gateway)).slice(3), ['6 now', '7 ok']);
  await gateway.call('workstream.edit', { wsId, seq: 6, message: 'then' });
  await gateway.isIdle(wsId);
  assert.deepEqual(sent(gateway)?.slice(3), ['then']);
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  assert.equal((await seen(gateway)).length, 3);
});

test('a fork and an imported copy can end before a steering message, and take it back as a turn of its own', async () => {
  await using gateway = await wholeGateway();
  const { wsId, steer, ended } = await running(gateway, calling('look'));
  await steer('now');
  gateway.puppet.turn('steered');
  await ended();
  const before = await gateway.call('workstream.fork', { wsId, seq: 3 });
  const texts = async (id: string) => {
    const { messages } = await gateway.call('workstream.history', { wsId: id });
    return messages.map(({ role, content }) => (role === 'user' ? `you: ${content}` : role));
  };
  assert.deepEqual(await texts(before.wsId), ['you: first', 'assistant', 'tool']);
  const exported = await gateway.call('workstream.export', { wsId });
  assert.ok(exported.format === 'json');
  const copies = [
    await gateway.call('workstream.fork', { wsId }),
    await gateway.call('workstream.import', { conversation: exported.conversation }),
  ];
  for (const copy of copies) {
    assert.deepEqual(await texts(copy.wsId), await texts(wsId));
    const again = await gateway.call('workstream.export', { wsId: copy.wsId });
    assert.ok(again.format === 'json');
    assert.deepEqual(again.conversation.messages, exported.conversation.messages);
    await gateway.call('workstream.rewind', { wsId: copy.wsId, turns: 1 });
    assert.deepEqual(await texts(copy.wsId), ['you: first', 'assistant', 'tool']);
    await gateway.call('workstream.send', { wsId: copy.wsId, message: 'go on' });
    await gateway.isIdle(copy.wsId);
    assert.deepEqual(sent(gateway)?.at(-1), 'go on');
  }
});

test('only messages of people that still wait can steer a run', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await running(gateway);
  const program = { message: 'work', sessionKey: 'main', idempotencyKey: 'program' };
  void gateway.gateway.dispatch('agent', program, callerOf());
  await turnsUntil(async () => (await waitingIn(gateway, wsId)).length === 1, 'the message of the program');
  assert.deepEqual(await gateway.refusal('queue.steer', { wsId, runId: 'program' }), {
    code: 'CONFLICT',
    message: 'Only messages of people can steer a run',
  });
  assert.equal((await gateway.refusal('queue.steer', { wsId, runId: 'x' })).code, 'NOT_FOUND');
  const reader = { scope: 'read' } as const;
  assert.equal((await gateway.refusal('queue.steer', { wsId, runId: 'program' }, reader)).code, 'FORBIDDEN');
});
