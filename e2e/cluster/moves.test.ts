import assert from 'node:assert/strict';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import type { SseReader } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { allowedMs, within } from '../support/deadline.ts';
import { say, stall } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, newAt, startPair, startWorker, until, untilJoined } from './crew.ts';
import { nodeIdOf } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** The texts of a stream, and that it has each event of the log once, in order and without gaps. */
function textIn({ frames }: SseReader): string {
  const offsets = frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split(':')[1])]));
  const [first = 0] = offsets;
  assert.deepEqual(
    offsets,
    offsets.map((_, index) => first + index),
  );
  return frames.flatMap(({ data }) => (data.type === 'content' ? [data.text] : [])).join('');
}

interface Talk {
  wsId: string;
  stream: SseReader;
}

async function converse(lead: DaemonUnderTest, { wsId, stream }: Talk, message: string): Promise<void> {
  const { model } = await crewScene();
  model.when(message, say(`You said ${message}. `));
  const ends = () => stream.frames.filter(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok').length;
  const before = ends();
  const sent = await lead.post('/v1/api/send', { ws_id: wsId, message });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await until(
    () => ends() > before,
    () => `an answer to ${message}: ${JSON.stringify(stream.frames.slice(-3))}`,
  );
}

const placeOf = async (lead: DaemonUnderTest, wsId: string) =>
  (await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url;

test(
  'a workstream moves there and back while a client reads it, which misses and repeats nothing',
  installed,
  async () => {
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    const client = await lead.client();
    const [here, there] = [await nodeIdOf(lead), await nodeIdOf(worker)];
    await using stream = await lead.sse(wsId);
    await stream.until('history');
    await converse(lead, { wsId, stream }, 'one');
    for (const [nodeId, daemon, message] of [
      [here, lead, 'two'],
      [there, worker, 'three'],
      [here, lead, 'four'],
      [there, worker, 'five'],
    ] as const) {
      const moved = await client.call('cluster.move', { wsId, nodeId });
      assert.deepEqual(moved, { nodeId, serverUrl: daemon.url, moved: true });
      assert.equal(await placeOf(lead, wsId), daemon.url);
      await converse(lead, { wsId, stream }, message);
      const again = await client.call('cluster.move', { wsId, nodeId });
      assert.equal(again.moved, false);
    }
    assert.equal(textIn(stream), 'You said one. You said two. You said three. You said four. You said five. ');
    const { messages } = (await lead.get(`/v1/api/workstreams/${wsId}/history`)).body;
    assert.equal(messages.length, 10);
    const { events } = await client.call('audit.list', { action: 'workstream.move' });
    assert.ok(events.length >= 4);
    assert.equal((await client.call('audit.verify', {})).ok, true);
  },
);

test('a workstream moves from one worker to another', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using other = await startWorker();
  await untilJoined(lead, worker, other);
  const client = await lead.client();
  await using stream = await lead.sse(wsId);
  await stream.until('history');
  await converse(lead, { wsId, stream }, 'one');
  const nodeId = await nodeIdOf(other);
  assert.equal((await client.call('cluster.move', { wsId, nodeId })).moved, true);
  await converse(lead, { wsId, stream }, 'two');
  assert.equal(await placeOf(lead, wsId), other.url);
  assert.equal(textIn(stream), 'You said one. You said two. ');
});

test('messages that are sent while a workstream moves are answered, each once', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  const client = await lead.client();
  const nodes = [await nodeIdOf(lead), await nodeIdOf(worker)];
  await using stream = await lead.sse(wsId);
  await stream.until('history');
  let isOver = false;
  const move = async (): Promise<number> => {
    let moves = 0;
    for (let turn = 0; !isOver; turn = 1 - turn) {
      const moved = client.call('cluster.move', { wsId, nodeId: nodes[turn] ?? '' });
      await moved.then(
        () => {
          moves += 1;
        },
        (error) => assert.match(String(error), /in use/),
      );
    }
    return moves;
  };
  const moving = move();
  const talk = async () => {
    for (const message of MESSAGES) await converse(lead, { wsId, stream }, message);
  };
  await talk().finally(() => {
    isOver = true;
  });
  const moves = await moving;
  assert.ok(moves > MESSAGES.length, `it has moved ${moves} times meanwhile`);
  assert.equal(textIn(stream), MESSAGES.map((message) => `You said ${message}. `).join(''));
});

const MESSAGES = Array.from({ length: 12 }, (_, index) => `number ${index}`);

test('what cannot move stays, with the reason', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  const client = await lead.client();
  const [here, there] = [await nodeIdOf(lead), await nodeIdOf(worker)];
  const refusal = (of: string, nodeId: string) =>
    client.call('cluster.move', { wsId: of, nodeId }).then(
      () => assert.fail('it has moved'),
      ({ code, message }) => `${code} ${message}`,
    );
  const { workstreams } = await client.call('workstream.list', {});
  const main = workstreams.find(({ sessionKey }) => sessionKey === 'main')?.wsId ?? assert.fail('no main');
  assert.match(await refusal(main, there), /^CONFLICT The main session/);
  assert.match(await refusal(wsId, 'nobody_0000'), /^NOT_FOUND nobody_0000 is not a worker/);
  assert.match(await refusal('0'.repeat(32), there), /^NOT_FOUND Unknown workstream/);
  const rest = stall();
  model.when('hold on', [say('I '), rest, say('held on.')]);
  await lead.post('/v1/api/send', { ws_id: wsId, message: 'hold on' });
  await within(rest.reached, allowedMs(30_000), () => 'it runs');
  assert.match(await refusal(wsId, here), /^CONFLICT The workstream is in use/);
  rest.release();
  await using alone = await startWorker({ isAlone: true });
  await untilJoined(lead, worker, alone);
  const elsewhere = await newAt(alone, lead);
  const workspace = path.join(alone.home, 'workspace');
  await rename(workspace, `${workspace}-before`);
  await mkdir(workspace); // another folder at the same path
  assert.match(await refusal(elsewhere, here), /^CONFLICT .* does not have the same folder/);
  assert.equal(await placeOf(lead, wsId), worker.url);
});
