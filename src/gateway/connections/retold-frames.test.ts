import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventFrame } from '../../../protocol/frames.ts';
import { expandScopes } from '../rights.ts';
import { gaining } from '../sharing/audience.ts';
import { DAEMON, OF_EVERYONE, type Owned, type Viewer } from '../sharing/perception.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import type { Broadcast, ToldFrame } from './broadcast.ts';
import { strictBroadcast } from './connection-fixture.ts';
import { hearingOf } from './hearing.ts';

const hearing = hearingOf({ scopes: expandScopes(['approve']), permissions: ALL_PERMISSIONS });
const ADA: Viewer = { userId: 'ada', permissions: new Set() };
const BOB: Viewer = { userId: 'bob', permissions: new Set() };
const OF_ADA: Owned = { ownerId: 'ada', visibility: 'private' };

function join(broadcast: Broadcast, viewer: Viewer) {
  const frames: Buffer[] = [];
  const membership = broadcast.join({ deliver: (frame) => void frames.push(frame) }, { viewer, hearing });
  return { membership, frames };
}

/** A daemon whose clients are here, and one that is told of its events, with clients of the same rights. */
function both() {
  const [worker, lead] = [strictBroadcast(), strictBroadcast()];
  const told: ToldFrame[] = [];
  worker.onTold((news) => {
    const carried: ToldFrame = JSON.parse(JSON.stringify(news));
    told.push(carried);
    lead.retell(carried);
  });
  const clients = [DAEMON, ADA, BOB].map((viewer) => ({ here: join(worker, viewer), there: join(lead, viewer) }));
  const texts = (frames: Buffer[]) => (frames.flatMap(framesOf) as EventFrame[]).map((frame) => JSON.stringify(frame));
  const received = () => clients.map(({ here, there }) => ({ here: texts(here.frames), there: texts(there.frames) }));
  return { worker, lead, told, clients, received };
}

const resolved = (approvalId: string) => ({ approvalId, wsId: 'w', sessionKey: 'main', approved: true });
const delta = (text: string) =>
  JSON.stringify({ runId: 'r', seq: 1, stream: 'assistant', ts: 1, data: { text, delta: text } });

test('events of workstreams have the same frames and numbers at another daemon, for each viewer', () => {
  const { worker, received } = both();
  worker.publishOf(OF_EVERYONE, 'approval.resolved', resolved('1'));
  worker.publishOf(OF_ADA, 'approval.resolved', resolved('2'));
  worker.publishOf({ ownerId: '', visibility: 'private' }, 'approval.resolved', resolved('3'));
  worker.publishOf(gaining(OF_ADA, OF_EVERYONE), 'approval.resolved', resolved('4'));
  worker.publishOf(OF_EVERYONE, 'approval.resolved', resolved('5'));
  const all = received();
  for (const { here, there } of all) assert.deepEqual(there, here);
  const numbers = all.map(({ there }) =>
    there.map((text) => JSON.parse(text)).map(({ payload, seq }) => [payload.approvalId, seq]),
  );
  assert.deepEqual(numbers, [
    [
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['5', 4],
    ],
    [
      ['1', 1],
      ['2', 2],
      ['5', 3],
    ],
    [
      ['1', 1],
      ['4', 2],
      ['5', 3],
    ],
  ]);
});

test('events of another daemon and those of this one share one numbering without gaps', () => {
  const { worker, lead, clients } = both();
  lead.publish('tick', { ts: 1 });
  worker.publishOf(OF_ADA, 'approval.resolved', resolved('1'));
  lead.publishOf(OF_EVERYONE, 'approval.resolved', resolved('2'));
  worker.publishOf(OF_EVERYONE, 'approval.resolved', resolved('3'));
  const seqs = clients.map(({ there }) => (there.frames.flatMap(framesOf) as EventFrame[]).map(({ seq }) => seq));
  assert.deepEqual(seqs, [
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3],
  ]);
});

test('events of a daemon as a whole stay there', () => {
  const { worker, told } = both();
  worker.publish('tick', { ts: 1 });
  worker.encodeDirect('node.pair.resolved', { requestId: 'r', nodeId: 'n', decision: 'approved', ts: 1 });
  assert.deepEqual(told, []);
});

test('output reaches those at another daemon who watch the workstream and perceive it', () => {
  const { worker, clients, received } = both();
  const [, , bob] = clients;
  for (const { membership } of [bob?.here, bob?.there].flatMap((one) => one ?? [])) membership.watch('other');
  worker.toWatchers('agent', { wsId: 'w', ...OF_EVERYONE }, delta('a'));
  worker.toWatchers('agent', { wsId: 'w', ...OF_ADA }, delta('b'));
  worker.toWatchers('agent', { wsId: 'other', ...OF_EVERYONE }, delta('c'));
  const all = received();
  for (const { here, there } of all) assert.deepEqual(there, here);
  const texts = all.map(({ there }) => there.map((text) => JSON.parse(text).payload.data.text));
  assert.deepEqual(texts, [['a', 'b', 'c'], ['a', 'b', 'c'], ['c']]);
});

test('output is told with nothing of the workstream but its id, owner and visibility', () => {
  const { worker, told } = both();
  const about = { wsId: 'w', ...OF_ADA, name: 'a secret' };
  worker.toWatchers('agent', about, delta('a'));
  assert.deepEqual(told, [
    { kind: 'watched', event: 'agent', about: { wsId: 'w', ...OF_ADA }, payloadJson: delta('a') },
  ]);
});

test('an event that was told is not told on', () => {
  const { worker, lead } = both();
  const again: ToldFrame[] = [];
  lead.onTold((news) => void again.push(news));
  worker.publishOf(OF_EVERYONE, 'approval.resolved', resolved('1'));
  worker.toWatchers('agent', { wsId: 'w', ...OF_EVERYONE }, delta('a'));
  assert.deepEqual(again, []);
});
