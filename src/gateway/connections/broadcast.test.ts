import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventFrame } from '../../../protocol/frames.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { createFrameCheck } from '../frame-check.ts';
import { expandScopes, type Rights } from '../rights.ts';
import { gaining } from '../sharing/audience.ts';
import { ANYONE, DAEMON, OF_EVERYONE, type Viewer } from '../sharing/perception.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { type Broadcast, createBroadcast } from './broadcast.ts';
import { strictBroadcast } from './connection-fixture.ts';
import { type Hearing, hearingOf } from './hearing.ts';

const hearing = (rights: Rights, permissions: ReadonlySet<Permission> = ALL_PERMISSIONS) =>
  hearingOf({ scopes: expandScopes([rights]), permissions });

function join(broadcast: Broadcast, heard: Rights | Hearing, viewer: Viewer = DAEMON) {
  const buffers: Buffer[] = [];
  const drops: boolean[] = [];
  const receiver = {
    deliver(frame: Buffer, dropIfSlow: boolean) {
      buffers.push(frame);
      drops.push(dropIfSlow);
    },
  };
  const membership = broadcast.join(receiver, {
    viewer,
    hearing: typeof heard === 'string' ? hearing(heard) : heard,
  });
  return { membership, buffers, drops, events: () => buffers.flatMap(framesOf) as EventFrame[] };
}

const seqs = (events: EventFrame[]) => events.map(({ event, seq }) => [event, seq]);
const resolved = { approvalId: 'apr_1', wsId: 'w', sessionKey: 'main', approved: true };
const shared = (wsId: string) => ({ wsId, ...OF_EVERYONE });
const delta = JSON.stringify({ runId: 'r', seq: 1, stream: 'assistant', ts: 1, data: { text: 'a', delta: 'a' } });

test('events that a client may not see cause no gap in its seq', () => {
  const broadcast = strictBroadcast();
  const reader = join(broadcast, 'read');
  const approver = join(broadcast, 'approve');
  broadcast.publish('tick', { ts: 1 });
  broadcast.publishOf(OF_EVERYONE, 'approval.resolved', resolved);
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

test('an event whose methods need a permission reaches only those who hold one of them, and nobody sees a gap', () => {
  const broadcast = strictBroadcast();
  const joined = (...held: Permission[]) => join(broadcast, hearing('approve', new Set(held)));
  const [auditor, decider, lender, both] = [
    joined('admin.audit'),
    joined('tools.approve'),
    joined('admin.nodes'),
    joined('approve'),
  ];
  broadcast.publish('tick', { ts: 1 });
  broadcast.publishOf(OF_EVERYONE, 'approval.resolved', resolved);
  broadcast.publish('node.pair.resolved', { requestId: 'r', nodeId: 'n', decision: 'approved', ts: 1 });
  broadcast.publish('tick', { ts: 2 });
  const later = joined('admin.nodes');
  broadcast.publish('tick', { ts: 3 });
  const heard = [auditor, decider, lender, both, later].map(({ events }) => seqs(events()).map((one) => one.join(' ')));
  assert.deepEqual(heard, [
    ['tick 1', 'tick 2', 'tick 3'],
    ['tick 1', 'approval.resolved 2', 'tick 3', 'tick 4'],
    ['tick 1', 'node.pair.resolved 2', 'tick 3', 'tick 4'],
    ['tick 1', 'approval.resolved 2', 'node.pair.resolved 3', 'tick 4', 'tick 5'],
    ['tick 4'],
  ]);
  assert.equal(decider.buffers[2], lender.buffers[2], 'the same number is encoded once, whatever the rights');
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
  broadcast.toWatchers('agent', shared('w'), delta);
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
  broadcast.publishOf(OF_EVERYONE, 'approval.resolved', resolved);
  broadcast.publish('shutdown', { reason: 'stopping' });
  broadcast.toWatchers('agent', shared('w'), delta);
  assert.deepEqual(drops, [true, false, false, false]);
});

test('a client gets the output of every workstream until it names the first one', () => {
  const broadcast = strictBroadcast();
  const client = join(broadcast, 'read');
  broadcast.toWatchers('agent', shared('a'), delta);
  client.membership.watch('b');
  broadcast.toWatchers('agent', shared('a'), delta);
  assert.equal(client.buffers.length, 1);
  broadcast.toWatchers('agent', shared('b'), delta);
  assert.equal(client.buffers.length, 2);
  client.membership.unwatch('b');
  broadcast.toWatchers('agent', shared('b'), delta);
  assert.equal(client.buffers.length, 2, 'having named one, it does not go back to all');
});

test('hasWatchers returns whether a client watches a workstream', () => {
  const broadcast = strictBroadcast();
  assert.equal(broadcast.hasWatchers('a'), false);
  const everything = join(broadcast, 'read');
  assert.equal(broadcast.hasWatchers('a'), true);
  everything.membership.watch('b');
  assert.deepEqual([broadcast.hasWatchers('a'), broadcast.hasWatchers('b')], [false, true]);
  everything.membership.leave();
  assert.deepEqual([broadcast.hasWatchers('b'), broadcast.size], [false, 0]);
});

test('a client without a scope gets only ticks', () => {
  const broadcast = strictBroadcast();
  const nobody = join(broadcast, 'public');
  broadcast.publish('tick', { ts: 1 });
  broadcast.publish('presence', { presence: [] });
  broadcast.publishOf(OF_EVERYONE, 'approval.resolved', resolved);
  broadcast.toWatchers('agent', shared('a'), delta);
  broadcast.publish('shutdown', { reason: 'stopping' });
  assert.deepEqual(seqs(nobody.events()), [
    ['tick', 1],
    ['shutdown', 2],
  ]);
});

test('a client may leave while an event is being delivered', () => {
  const broadcast = strictBroadcast();
  const left = broadcast.join({ deliver: () => left.leave() }, { viewer: DAEMON, hearing: hearing('read') });
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

const user = (userId: string): Viewer => ({ userId, permissions: ANYONE.permissions });

test('an event of a private workstream reaches only those who perceive it, and the others see no gap', () => {
  const broadcast = strictBroadcast();
  const everyone = [
    join(broadcast, 'approve', user('ada')),
    join(broadcast, 'approve', user('bob')),
    join(broadcast, 'approve', DAEMON),
  ];
  broadcast.publishOf({ ownerId: 'ada', visibility: 'private' }, 'approval.resolved', resolved);
  broadcast.publish('tick', { ts: 1 });
  broadcast.publishOf({ ownerId: 'bob', visibility: 'shared' }, 'approval.resolved', resolved);
  const all = [
    ['approval.resolved', 1],
    ['tick', 2],
    ['approval.resolved', 3],
  ];
  const less = [
    ['tick', 1],
    ['approval.resolved', 2],
  ];
  assert.deepEqual(
    everyone.map(({ events }) => seqs(events())),
    [all, less, all],
  );
});

test('the numbers of a sight go on while nobody has it, and equal numbers share a frame', () => {
  const broadcast = strictBroadcast();
  const hidden = { ownerId: 'ada', visibility: 'private' } as const;
  broadcast.publishOf(hidden, 'workstream.opened', { wsId: 'w' });
  const [ada, all, bob] = [user('ada'), DAEMON, user('bob')].map((viewer) => join(broadcast, 'read', viewer));
  broadcast.publish('tick', { ts: 1 });
  assert.deepEqual(
    [ada, all, bob].map((client) => client && seqs(client.events())),
    [[['tick', 2]], [['tick', 2]], [['tick', 1]]],
  );
  assert.equal(ada?.buffers[0], all?.buffers[0]);
});

test('those who lose sight of a workstream are told, and nobody else', () => {
  const broadcast = strictBroadcast();
  const [ada, bob, all] = [user('ada'), user('bob'), DAEMON].map((viewer) => join(broadcast, 'read', viewer));
  const losing = gaining({ ownerId: 'ada', visibility: 'private' }, { ownerId: 'ada', visibility: 'shared' });
  broadcast.publishOf(losing, 'workstream.closed', { wsId: 'w' });
  broadcast.publish('tick', { ts: 1 });
  const [tick, both] = [
    [['tick', 1]],
    [
      ['workstream.closed', 1],
      ['tick', 2],
    ],
  ];
  assert.deepEqual(
    [ada, bob, all].map((client) => client && seqs(client.events())),
    [tick, both, tick],
  );
});

test('the output of a private workstream reaches only those who perceive it', () => {
  const broadcast = strictBroadcast();
  const [ada, bob] = [user('ada'), user('bob')].map((viewer) => join(broadcast, 'read', viewer));
  bob?.membership.watch('w');
  broadcast.toWatchers('agent', { wsId: 'w', ownerId: 'ada', visibility: 'private' }, delta);
  assert.deepEqual([ada?.buffers.length, bob?.buffers.length], [1, 0]);
});
