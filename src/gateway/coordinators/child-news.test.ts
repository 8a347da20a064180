import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { ANYONE } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { type CallAs, turnsUntil } from '../testing/whole-gateway.ts';
import { coordinatorGateway, LOCAL } from './coordinators-fixture.ts';

type Gateway = Awaited<ReturnType<typeof coordinatorGateway>>;

/** What the log of the coordinator tells of its children and of calls about several of them. */
async function news({ events, wsId }: Gateway): Promise<StreamEvent[]> {
  return (await events(wsId)).filter(({ type }) => /^(child_ws|batch)_|^wait_(started|progress|ended)$/.test(type));
}

test('a coordinator must be told when its children are made, change their state or name, and are closed', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  await gateway.coordinate([calling('spawn_workstream', { message: 'one', name: 'one' })]);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  await call('workstream.update', { wsId: child.wsId, name: 'first' }, LOCAL);
  await call('workstream.close', { wsId: child.wsId }, LOCAL);
  await call('workstream.open', { wsId: child.wsId }, LOCAL);
  await call('sessions.delete', { key: child.wsId }, LOCAL);
  const [of, made] = [{ child_ws_id: child.wsId }, { node_id: child.nodeId, parent_ws_id: wsId }];
  assert.deepEqual(await news(gateway), [
    { type: 'child_ws_created', ...of, name: 'one', ...made },
    { type: 'child_ws_state', ...of, state: 'thinking' },
    { type: 'child_ws_state', ...of, state: 'idle' },
    { type: 'child_ws_rename', ...of, name: 'first' },
    { type: 'child_ws_closed', ...of },
    { type: 'child_ws_created', ...of, name: 'first', ...made },
    { type: 'child_ws_closed', ...of },
  ]);
});

test('a private child of a shared coordinator is told of to nobody, from when it is private', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  const hidden = await call('workstream.create', { parentWsId: wsId, visibility: 'private', name: 'x' }, LOCAL);
  await call('workstream.send', { wsId: hidden.wsId, message: 'work' }, LOCAL);
  await gateway.isIdle(hidden.wsId);
  assert.deepEqual(await news(gateway), []);
  await call('workstream.share', { wsId: hidden.wsId, visibility: 'shared' }, LOCAL);
  await call('workstream.share', { wsId: hidden.wsId, visibility: 'private' }, LOCAL);
  await call('workstream.update', { wsId: hidden.wsId, name: 'secret' }, LOCAL);
  await call('workstream.close', { wsId: hidden.wsId }, LOCAL);
  const types = (await news(gateway)).map(({ type }) => type);
  assert.deepEqual(types, ['child_ws_created', 'child_ws_state', 'child_ws_closed']);
});

test('a batch and a wait are told of, with what came of them', async () => {
  await using gateway = await coordinatorGateway();
  const workstreams = [{ message: 'one' }, { message: 'two', model: 'nobody' }];
  await gateway.coordinate([calling('spawn_batch', { workstreams }, 'batch')]);
  const child = await gateway.child();
  await gateway.coordinate([calling('wait_for_workstream', { ws_ids: [child.wsId] }, 'wait')]);
  await gateway.coordinate([calling('close_all_children', {}, 'close')]);
  const told = (await news(gateway)).filter(({ type }) => !type.startsWith('child_ws'));
  const [op, wait] = ['spawn_batch', { call_id: 'wait', ws_ids: [child.wsId] }];
  assert.deepEqual(told.slice(0, 3), [
    { type: 'batch_started', call_id: 'batch', op, total: 2 },
    { type: 'batch_ended', call_id: 'batch', op, total: 2, succeeded: 1, denied: 1 },
    { type: 'wait_started', ...wait, mode: 'all', timeout_secs: 120 },
  ]);
  const ended = told.find((event) => event.type === 'wait_ended') ?? assert.fail();
  assert.deepEqual([ended.results, ended.complete], [{ [child.wsId]: { state: 'idle' } }, true]);
  assert.deepEqual(told.at(-1), {
    ...{ type: 'batch_ended', call_id: 'close', op: 'close_all_children', total: 1 },
    ...{ closed: 1, failed: 0, skipped: 0 },
  });
});

test('after a kill, the log of a coordinator tells of each child once, and of its last state', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const workstreams = ['one', 'two'].map((name) => ({ name, message: name }));
  gateway.turns.push([calling('spawn_batch', { workstreams })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  let isDead = false;
  let created = 0;
  gateway.disk.diesAt = ({ elsewhere = [] }) => {
    created += elsewhere.length;
    isDead ||= created === 2; // before the second child is stored
    return isDead;
  };
  await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
  await turnsUntil(() => isDead, 'the kill');
  await gateway.crash();
  await gateway.answered(wsId);
  const ids = await gateway.named('one', 'two');
  for (const id of ids) await gateway.isIdle(id);
  const told = await news(gateway);
  for (const id of ids) {
    const own = told.filter((event) => 'child_ws_id' in event && event.child_ws_id === id);
    assert.equal(own.filter(({ type }) => type === 'child_ws_created').length, 1);
    assert.deepEqual(own.at(-1), { type: 'child_ws_state', child_ws_id: id, state: 'idle' });
  }
});

test('the list of saved workstreams counts the children that the caller sees', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  await gateway.coordinate([calling('spawn_batch', { workstreams: [{ message: 'one' }, { message: 'two' }] })]);
  await call('workstream.create', { parentWsId: wsId, visibility: 'private' }, LOCAL);
  const counted = async (as: CallAs) =>
    (await call('workstream.saved', {}, as)).workstreams.find((row) => row.wsId === wsId)?.childCount;
  const bob = { id: 'bob', userId: 'user_bob', permissions: ANYONE.permissions };
  assert.deepEqual([await counted(LOCAL), await counted(bob)], [3, 2]);
  await gateway.coordinate([calling('close_all_children', {})]);
  assert.equal(await counted(bob), undefined);
});
