import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventFrame } from '../../../protocol/frames.ts';
import { createFrameCheck } from '../frame-check.ts';
import type { Rights } from '../rights.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { type Broadcast, createBroadcast } from './broadcast.ts';
import { strictBroadcast } from './connection-fixture.ts';

function join(broadcast: Broadcast, rights: Rights) {
  const buffers: Buffer[] = [];
  const drops: boolean[] = [];
  const membership = broadcast.join({
    rights,
    deliver(frame, dropIfSlow) {
      buffers.push(frame);
      drops.push(dropIfSlow);
    },
  });
  return { ...membership, buffers, drops, events: () => buffers.flatMap(framesOf) as EventFrame[] };
}

const seqs = (events: EventFrame[]) => events.map(({ event, seq }) => [event, seq]);
const resolved = { approvalId: 'apr_1', wsId: 'w', sessionKey: 'main', approved: true };
const delta = JSON.stringify({ runId: 'r', seq: 1, stream: 'assistant', ts: 1, data: { text: 'a', delta: 'a' } });

test('events that a client may not see cause no gap in its seq', () => {
  const broadcast = strictBroadcast();
  const reader = join(broadcast, 'read');
  const approver = join(broadcast, 'approve');
  broadcast.publish('tick', { ts: 1 });
  broadcast.publish('approval.resolved', resolved);
  broadcast.publish('tick', { ts: 2 });
  assert.deepEqual(seqs(reader.events()), [
    ['tick', 1],
    ['tick', 2],
  ]);
  assert.deepEqual(seqs(approver.events()), [
    ['tick', 1],
    ['approval.resolved', 2],
    ['tick', 3],
  ]);
});

test('seq continues while no client has the same rights', () => {
  const broadcast = strictBroadcast();
  broadcast.publish('tick', { ts: 1 });
  const reader = join(broadcast, 'read');
  broadcast.publish('tick', { ts: 2 });
  assert.deepEqual(seqs(reader.events()), [['tick', 2]]);
});

test('clients with the same rights share one encoded frame', () => {
  const broadcast = strictBroadcast();
  const [one, other] = [join(broadcast, 'write'), join(broadcast, 'write')];
  broadcast.publish('tick', { ts: 1 });
  broadcast.toWatchers('agent', 'w', delta);
  assert.equal(one.buffers.length, 2);
  assert.ok(one.buffers.every((frame, i) => frame === other.buffers[i]));
});

test('an event frame has its keys in the order of the protocol', () => {
  const broadcast = strictBroadcast();
  const { buffers } = join(broadcast, 'read');
  broadcast.publish('presence', { presence: [] }, { stateVersion: { presence: 3, health: 2 } });
  assert.equal(
    buffers[0]?.toString('utf8', 2),
    '{"type":"event","event":"presence","payload":{"presence":[]},"seq":1,"stateVersion":{"presence":3,"health":2}}',
  );
});

test('each event has a rule whether slow clients may miss it', () => {
  const broadcast = strictBroadcast();
  const { drops } = join(broadcast, 'approve');
  broadcast.publish('tick', { ts: 1 });
  broadcast.publish('approval.resolved', resolved);
  broadcast.publish('shutdown', { reason: 'stopping' });
  broadcast.toWatchers('agent', 'w', delta);
  assert.deepEqual(drops, [true, false, false, false]);
});

test('a client gets the output of every workstream until it names the first one', () => {
  const broadcast = strictBroadcast();
  const client = join(broadcast, 'read');
  broadcast.toWatchers('agent', 'a', delta);
  client.watch('b');
  broadcast.toWatchers('agent', 'a', delta);
  assert.equal(client.buffers.length, 1);
  broadcast.toWatchers('agent', 'b', delta);
  assert.equal(client.buffers.length, 2);
  client.unwatch('b');
  broadcast.toWatchers('agent', 'b', delta);
  assert.equal(client.buffers.length, 2, 'having named one, it does not go back to all');
});

test('hasWatchers returns whether a client watches a workstream', () => {
  const broadcast = strictBroadcast();
  assert.equal(broadcast.hasWatchers('a'), false);
  const everything = join(broadcast, 'read');
  assert.equal(broadcast.hasWatchers('a'), true);
  everything.watch('b');
  assert.deepEqual([broadcast.hasWatchers('a'), broadcast.hasWatchers('b')], [false, true]);
  everything.leave();
  assert.deepEqual([broadcast.hasWatchers('b'), broadcast.size], [false, 0]);
});

test('a client without a scope gets only ticks', () => {
  const broadcast = strictBroadcast();
  const nobody = join(broadcast, 'public');
  broadcast.publish('tick', { ts: 1 });
  broadcast.publish('presence', { presence: [] });
  broadcast.publish('approval.resolved', resolved);
  broadcast.toWatchers('agent', 'a', delta);
  broadcast.publish('shutdown', { reason: 'stopping' });
  assert.deepEqual(seqs(nobody.events()), [
    ['tick', 1],
    ['shutdown', 2],
  ]);
});

test('a client may leave while an event is being delivered', () => {
  const broadcast = strictBroadcast();
  const left = broadcast.join({ rights: 'read', deliver: () => left.leave() });
  const stays = join(broadcast, 'read');
  broadcast.publish('tick', { ts: 1 });
  assert.deepEqual([stays.buffers.length, broadcast.size], [1, 1]);
});

test('an event that does not match its row is reported and sent anyway', () => {
  const invalid: string[] = [];
  const check = createFrameCheck({ every: 2, onInvalid: (event) => void invalid.push(event) });
  const broadcast = createBroadcast({ check });
  const { buffers } = join(broadcast, 'read');
  for (let i = 0; i < 4; i++) broadcast.publish('tick', { ts: -1 });
  assert.deepEqual([invalid, buffers.length], [['tick', 'tick'], 4], 'every second one is checked');
});
