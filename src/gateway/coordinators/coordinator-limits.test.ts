import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_OPEN_CHILDREN } from '../../agent/coordinator/coordination.ts';
import { ProviderError } from '../../agent/providers/model.ts';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { coordinatorGateway, LOCAL, taskOf } from './coordinators-fixture.ts';

const spawning = (message: string, args: object = {}) => calling('spawn_workstream', { message, ...args });

test('the 129th open child is refused, and there is room again when one is closed', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, store } = gateway;
  await gateway.coordinate([spawning('first')]);
  const child = await gateway.child();
  const row = await store.db
    .selectFrom('workstreams')
    .selectAll()
    .where('ws_id', '=', child.wsId)
    .executeTakeFirstOrThrow();
  const statements = Array.from({ length: MAX_OPEN_CHILDREN - 1 }, (_, index) =>
    store.db
      .insertInto('workstreams')
      .values({ ...row, ws_id: index.toString(16).padStart(32, '0'), spawn_key: `k${index}`, loaded: 2 })
      .compile(),
  );
  await store.commit({ statements });
  await gateway.coordinate([spawning('too many')]);
  const why = 'This coordinator has 128 open children. Close some of them first, for example with close_workstream.';
  assert.deepEqual(gateway.results[1], [why]);
  assert.deepEqual(await gateway.refusal('workstream.create', { parentWsId: wsId }, LOCAL), {
    code: 'CONFLICT',
    message: why,
  });
  await gateway.call('workstream.close', { wsId: child.wsId }, LOCAL);
  const made = await Promise.allSettled(
    [1, 2].map(() => gateway.call('workstream.create', { parentWsId: wsId }, LOCAL)),
  );
  assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a wait ends with its time, tells what there is, and the first of several is enough for any', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const held = Promise.withResolvers<void>();
  gateway.children((request) => (taskOf(request) === 'long' ? [held.promise, 'at last'] : ['quick']));
  await gateway.coordinate([
    calling('spawn_batch', { workstreams: ['long', 'short'].map((name) => ({ name, message: name })) }),
  ]);
  const ids = await gateway.named('long', 'short');
  await gateway.isIdle(ids[1] ?? '');
  await gateway.coordinate([calling('wait_for_workstream', { ws_ids: ids, mode: 'any' })]);
  assert.equal(Object(gateway.results[1]?.[0]).done, true);
  gateway.turns.push([calling('wait_for_workstream', { ws_ids: ids, timeout_secs: 30 })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await turnsUntil(async () => {
    await gateway.clock.advance(31_000);
    return gateway.results.length > 2;
  }, 'the end of the wait');
  assert.equal(Object(gateway.results[2]?.[0]).done, false);
  await gateway.isIdle(wsId);
  gateway.turns.push([calling('wait_for_workstream', { ws_ids: ids })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'tool_info', 2);
  held.resolve();
  await gateway.isIdle(wsId);
  assert.equal(Object(gateway.results[3]?.[0]).done, true);
});

test('a wait goes on while messages are held in a workstream whose model is away', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const gone = Promise.withResolvers<void>();
  const away = new ProviderError('unreachable', 'Could not reach lab.', { retryable: true, detail: 'away' });
  let requests = 0;
  gateway.children(() => {
    requests += 1;
    return requests === 1 ? [gone.promise, away] : ['back'];
  });
  await gateway.coordinate([spawning('first')]);
  const child = await gateway.child();
  await turnsUntil(() => requests === 1, 'the first request');
  await gateway.call('workstream.send', { wsId: child.wsId, message: 'of a person', queue: true }, LOCAL);
  await gateway.coordinate([calling('send_to_workstream', { ws_id: child.wsId, message: 'second' })]);
  gone.resolve();
  await turnsUntil(() => gateway.parts.workstreams.find(child.wsId, DAEMON)?.queue.held !== undefined, 'the hold');
  gateway.turns.push([calling('wait_for_workstream', { ws_ids: [child.wsId] })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'wait_started');
  gateway.puppet.isReached();
  await turnsUntil(async () => {
    await gateway.clock.advance(100);
    return gateway.results.length > 2;
  }, 'the end of the wait');
  assert.deepEqual([Object(gateway.results[2]?.[0]).done, requests], [true, 3]);
  await gateway.isIdle(wsId);
});

test('the list of tasks outlives the conversation, and says what is wrong', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  await gateway.coordinate([calling('tasks', { action: 'add', title: 'Count apples' }, 't1')]);
  await gateway.coordinate([
    calling('tasks', { action: 'update', id: '1', status: 'needs_user', note: 'which apples?' }, 't2'),
    calling('tasks', { action: 'update', id: '7', status: 'done' }, 't3'),
    calling('tasks', { action: 'add', title: 'Other', child_ws_id: await gateway.main() }, 't4'),
  ]);
  assert.equal(Object(gateway.results[1]).at(1), 'There is no task 7. The action "list" shows them.');
  assert.match(String(Object(gateway.results[1]).at(2)), /is no workstream that works for you/);
  await gateway.call('workstream.command', { wsId, command: '/clear' }, LOCAL);
  await gateway.restart();
  const { tasks } = await gateway.call('coordinator.tasks', { wsId }, LOCAL);
  assert.deepEqual(
    tasks.map(({ id, title, status, note }) => ({ id, title, status, note })),
    [{ id: '1', title: 'Count apples', status: 'needs_user', note: 'which apples?' }],
  );
});

test('a batch that is cancelled makes no more, and says in its result and its last event what it made', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const names = Array.from({ length: 10 }, (_, n) => `w${n}`);
  gateway.turns.push([calling('spawn_batch', { workstreams: names.map((name) => ({ name, message: name })) })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
  await gateway.reaches(wsId, 'child_ws_created', 3);
  await gateway.call('workstream.cancel', { wsId }, LOCAL);
  await gateway.isIdle(wsId);
  const made = await gateway.childrenOf();
  const events = await gateway.events(wsId);
  const ended = events.find((event) => event.type === 'batch_ended');
  assert.deepEqual([ended?.succeeded, ended?.denied], [made.length, 10 - made.length]);
  assert.ok(made.length >= 3 && made.length < 10);
  const result = events.find((event) => event.type === 'tool_result');
  const told: unknown[] = JSON.parse(result?.output ?? '');
  const why = { error: 'It was not made, because the run was stopped.' };
  const ids = await gateway.named(...names.slice(0, made.length));
  assert.deepEqual(
    [told.slice(0, made.length), told.slice(made.length)],
    [ids.map((ws_id, n) => ({ ws_id, name: `w${n}` })), Array(10 - made.length).fill(why)],
  );
});
