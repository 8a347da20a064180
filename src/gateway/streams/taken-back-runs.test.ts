import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { HOLD_MS, openStream, settle, streamingGateway } from './stream-fixture.ts';

type Streaming = Awaited<ReturnType<typeof streamingGateway>>;

/** Everything that changes which earlier messages people see. */
const CHANGES: Record<string, (streaming: Streaming) => Promise<unknown>> = {
  rewind: ({ gateway, wsId }) => gateway.call('workstream.rewind', { wsId, turns: 1 }),
  remove: ({ gateway, wsId }) => gateway.call('workstream.remove', { wsId, seq: 1 }),
  '/clear': ({ gateway, wsId }) => gateway.call('workstream.command', { wsId, command: '/clear' }),
  '/new': ({ gateway, wsId }) => gateway.call('workstream.command', { wsId, command: '/new' }),
  'sessions.compact': ({ gateway }) => gateway.call('sessions.compact', { key: 'main', maxLines: 2 }),
  async '/resume'({ gateway, wsId }) {
    const { wsId: other } = await gateway.call('workstream.create', { name: 'other' });
    await gateway.call('workstream.send', { wsId: other, message: 'elsewhere' });
    await gateway.isIdle(other);
    await gateway.call('workstream.close', { wsId: other });
    await gateway.call('workstream.command', { wsId, command: '/resume other' });
  },
};

const RESENT = [
  ({ gateway, wsId }: Streaming) => gateway.call('workstream.retry', { wsId }),
  ({ gateway, wsId }: Streaming) => gateway.call('workstream.edit', { wsId, seq: 4, message: 'bye' }),
];

/** A failed message, which can be removed, then two runs. */
async function converse(streaming: Streaming): Promise<void> {
  streaming.gateway.puppet.turn(new ProviderError('refused', 'no'));
  await streaming.unread('failing');
  await streaming.unread('before');
  await streaming.unread('hello');
}

/** What the conversation shows now, and where its log ends. */
async function shownNow({ gateway, wsId }: Streaming) {
  const { messages } = await gateway.call('workstream.history', { wsId });
  return { history: messages.map(({ content }) => content), cursor: (await gateway.events(wsId)).length };
}

for (const [name, change] of Object.entries(CHANGES)) {
  test(`a stream that waits while ${name} changes the conversation shows the changed one at its cursor`, async () => {
    await using streaming = await streamingGateway();
    await converse(streaming);
    const reader = await streaming.open();
    await settle();
    assert.equal(reader.hasBegun(), false);
    await change(streaming);
    const { history, cursor } = await shownNow(streaming);
    await streaming.gateway.clock.advance(HOLD_MS);
    await reader.begun;
    const types = reader.types().filter((type) => type !== 'info'); // /new reports the name of the saved conversation
    assert.deepEqual([reader.history(), types, reader.told.at(-1)?.offset], [history, ['history'], cursor]);
  });

  test(`a stream that opens after ${name}, or after a restart since, does not replay the run before it`, async () => {
    await using streaming = await streamingGateway();
    await converse(streaming);
    await change(streaming);
    const { history, cursor } = await shownNow(streaming);
    for (const restart of [async () => undefined, () => streaming.gateway.restart()]) {
      await restart();
      const reader = await streaming.open();
      await settle();
      await streaming.gateway.clock.advance(HOLD_MS);
      await reader.begun;
      assert.deepEqual([reader.history(), reader.types(), reader.told[0]?.offset], [history, ['history'], cursor]);
      await reader.leave();
    }
  });
}

test('a run that a retry or an edit began is replayed, also after a restart', async () => {
  for (const resend of RESENT) {
    for (const restarts of [false, true]) {
      await using streaming = await streamingGateway();
      const { gateway, wsId } = streaming;
      await converse(streaming);
      const waiting = await streaming.open();
      await settle();
      const { runId } = await resend(streaming);
      await gateway.isIdle(wsId);
      await waiting.begun;
      assert.deepEqual([waiting.history().slice(0, 3), waiting.ends()], [['failing', 'before', 'ok'], [runId]]);
      if (!restarts) continue;
      await gateway.restart();
      const reader = await openStream(gateway, wsId, {});
      await settle();
      await gateway.clock.advance(HOLD_MS);
      await reader.begun;
      assert.deepEqual(reader.ends(), [runId]);
    }
  }
});
