import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

type Talk = Awaited<ReturnType<typeof openConversation>>;

async function killAndRestart(talk: Talk): Promise<void> {
  await daemon.kill9();
  await daemon.restart();
  await talk.reconnect();
}

/** A run that waits for an approval, and messages that wait for it; each has its text as its key. */
async function asking(talk: Talk, first: string, ...waiting: string[]): Promise<string> {
  const client = await daemon.client();
  const { wsId } = talk;
  await client.call('workstream.send', { wsId, message: first, idempotencyKey: first });
  const { approval_id } = await talk.until('approve_request');
  for (const message of waiting) {
    await client.call('workstream.send', { wsId, message, queue: true, idempotencyKey: message });
  }
  return approval_id;
}

test('two waiting messages and a question survive kill -9, and each message is answered once, in order', async () => {
  await using talk = await openConversation(daemon);
  model.when('dig', callTools({ name: 'bash', arguments: { command: 'echo dug | tee dug' } }), say('Dug.'));
  model.when('plant', say('Planted.'));
  model.when('harvest', say('Harvested.'));
  const approvalId = await asking(talk, 'dig', 'plant', 'harvest');
  const asked = model.requests.length;
  await killAndRestart(talk);
  await talk.decide(approvalId, { approved: true });
  await talk.ended({ runId: 'harvest' });
  assert.deepEqual(
    speechOf(await talk.agree()).filter((line) => !line.startsWith('tool')),
    [
      'user: dig',
      'assistant: ',
      'assistant: Dug.',
      'user: plant',
      'assistant: Planted.',
      'user: harvest',
      'assistant: Harvested.',
    ],
  );
  assert.equal(model.requests.length, asked + 3);
});

test('a message that steers a run survives kill -9 before and after the model reads it, and is answered once', async () => {
  await using talk = await openConversation(daemon);
  const client = await daemon.client();
  const { wsId } = talk;
  const held = stall();
  model.when('sail', callTools({ name: 'bash', arguments: { command: 'echo sailed | tee sailed' } }));
  model.when('reef', [say('Ree'), held]);
  model.when('anchor', say('Anchored.'));
  const approvalId = await asking(talk, 'sail', 'anchor', 'reef');
  await client.call('queue.steer', { wsId, runId: 'reef' });
  await killAndRestart(talk);
  const again = await daemon.client();
  const { messages } = await again.call('queue.list', { wsId });
  assert.deepEqual(
    messages.map(({ runId, steer }) => [runId, steer]),
    [
      ['reef', true],
      ['anchor', undefined],
    ],
  );
  await talk.decide(approvalId, { approved: true });
  await held.reached;
  await talk.until('user_turn', (event) => event.steered_run_id === 'reef' && event.run_id === 'sail');
  model.when('reef', say('Reefed.'));
  await killAndRestart(talk);
  held.release();
  await talk.ended({ runId: 'anchor' });
  assert.deepEqual(
    speechOf(await talk.agree()).filter((line) => !line.startsWith('tool')),
    ['user: sail', 'assistant: ', 'user: reef', 'assistant: Reefed.', 'user: anchor', 'assistant: Anchored.'],
  );
  const bodies = model.requests.slice(-2).map(({ body }) =>
    body.messages
      .slice(1)
      .map(({ role }) => role)
      .join(),
  );
  assert.deepEqual(bodies, ['user,assistant,tool,user', 'user,assistant,tool,user,assistant,user']);
  const end = await (await daemon.client()).call('agent.wait', { runId: 'reef' });
  assert.equal(end.status, 'ok');
});
