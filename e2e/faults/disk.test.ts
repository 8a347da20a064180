import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { HealthSummary } from '../../protocol/methods/health.ts';
import { needs } from '../../src/testing/needs.ts';
import { createArrivals } from '../support/clients/arrivals.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import { integrityOf, mountSmallDisk, storeIs } from '../support/faults/full-disk.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { pause, say } from '../support/model/scripted-steps.ts';

const smallDisks = await needs('small disks');
const CONVERSATIONS = 4;
/** An answer too long for any test; the model notices a client that stops reading. */
const ENDLESS = Array.from({ length: 2_400 }, (_, index) => [
  say(`word ${index}, ${'-'.repeat(200)} `),
  pause(25),
]).flat();

test('with a full disk for the database, four streams end with an error, reads and cancels still work, and everything recovers', async () => {
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({
    entry: new URL('../support/fixtures/limited-daemon.ts', import.meta.url),
    model: model.url,
  });
  const toggle = () => daemon.signal('SIGUSR2');
  await throughFullDisk({ daemon, model, fill: toggle, free: toggle });
});

test('the same with a really full disk and an unmodified daemon', smallDisks, async () => {
  using disk = mountSmallDisk(12);
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({ home: path.join(disk.folder, 'home'), model: model.url });
  await throughFullDisk({ daemon, model, fill: disk.fill, free: disk.free });
});

interface Scene {
  daemon: DaemonUnderTest;
  model: ScriptedModel;
  fill(): void;
  free(): void;
}

async function throughFullDisk({ daemon, model, fill, free }: Scene): Promise<void> {
  model.when('go on and on', ENDLESS);
  model.when('and now', say('Here again.'));
  const spare = (await daemon.post('/v1/api/workstreams/new', { name: 'spare' })).body.ws_id;
  const all = await Promise.all(Array.from({ length: CONVERSATIONS }, () => openConversation(daemon)));
  const { socket } = await openSocket(daemon);
  const health = createArrivals<HealthSummary>();
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    if (frame.event === 'health') health.add(frame.payload);
  });
  const runs = await Promise.all(all.map((conversation) => conversation.ask('go on and on')));
  await Promise.all(all.map((conversation) => conversation.until('content')));

  fill();
  await storeIs(daemon, 'degraded');
  const told = await health.until(({ store }) => store.status === 'degraded', 'the event health');
  assert.deepEqual([told.status, told.store.reason], ['degraded', 'database or disk is full']);
  for (const { closed } of model.requests) {
    assert.deepEqual(await within(closed, 60_000, () => 'the model is not read on'), { whole: false });
  }
  await assertWritesRefused(daemon, spare);
  await assertReadsGoOn(
    daemon,
    all.map(({ wsId }) => wsId),
  );
  const { status, body } = await daemon.post('/v1/api/cancel', { ws_id: all[0]?.wsId });
  assert.deepEqual([status, body.dropped.was_running], [200, true]);

  free();
  await storeIs(daemon, 'ok');
  await within(
    Promise.all(all.map((conversation, index) => conversation.ended(endOf(runs, index)))),
    60_000,
    () => 'ends',
  );
  for (const conversation of all) {
    const ledger = await conversation.agree();
    assert.deepEqual(
      ledger.runs.map(({ run }) => [run.status, run.error]),
      [['error', 'Cannot write to the disk']],
    );
    const after = await conversation.ask('and now');
    await conversation.ended(after);
    assert.equal((await conversation.agree()).messages.at(-1)?.role, 'assistant');
    await conversation[Symbol.asyncDispose]();
  }
  await health.until(({ status, ts }) => status === 'ok' && ts > told.ts, 'the event health, later');
  socket.close();
  await daemon.stop();
  assert.equal(integrityOf(daemon.home), 'ok');
}

const endOf = (runs: readonly { runId: string }[], index: number): { runId: string } =>
  runs[index] ?? assert.fail('one run per conversation');

/** With the retry time, over both interfaces. */
async function assertWritesRefused(daemon: DaemonUnderTest, idle: string): Promise<void> {
  const large = { ws_id: idle, message: 'x'.repeat(100_000) };
  for (let n = 0; n < 5; n += 1) {
    const { status, body, headers } = await daemon.post('/v1/api/send', large);
    const told = { error: 'Cannot write to the disk' };
    assert.deepEqual([status, body, headers.get('retry-after')], [503, told, '1']);
  }
  const client = await daemon.client();
  const sent = client.call('workstream.send', { wsId: idle, message: large.message });
  await assert.rejects(sent, { code: 'UNAVAILABLE', message: 'Cannot write to the disk', retryAfterMs: 1_000 });
}

async function assertReadsGoOn(daemon: DaemonUnderTest, wsIds: string[]): Promise<void> {
  const listed = (await daemon.get('/v1/api/workstreams')).body.workstreams.map(
    ({ ws_id }: { ws_id: string }) => ws_id,
  );
  assert.deepEqual(
    wsIds.filter((wsId) => !listed.includes(wsId)),
    [],
  );
  const client = await daemon.client();
  for (const wsId of wsIds) {
    const { messages } = await client.call('chat.history', { sessionKey: wsId });
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user'],
    );
    await using stream = await daemon.sse(wsId);
    await stream.until('content');
  }
  assert.equal((await daemon.get('/health')).body.status, 'degraded');
}
