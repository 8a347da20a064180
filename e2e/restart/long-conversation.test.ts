import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileMessage } from '../../protocol/methods/conversation/file-message.ts';
import { firstApproval } from '../support/clients/first-approval.ts';
import { sampleConversation } from '../support/clients/sample-conversation.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const MESSAGES = 5_000;
const { model, daemon } = await openStage();

const contentOf = (index: number): string => `${index % 2 === 0 ? 'question' : 'answer'} ${index}`;

const message = (index: number): FileMessage =>
  index % 2 === 0
    ? { role: 'user', createdMs: index, content: contentOf(index) }
    : { role: 'assistant', createdMs: index, content: contentOf(index), toolCalls: [] };

async function imported(): Promise<string> {
  const messages = Array.from({ length: MESSAGES }, (_, index) => message(index));
  const answer = await daemon.fetch('/v1/api/workstreams/import', {
    method: 'POST',
    body: JSON.stringify({ ...sampleConversation(), messages }),
    headers: { 'Content-Type': 'application/json' },
  });
  return (await answer.json()).ws_id;
}

async function killAndRestart(): Promise<void> {
  await daemon.kill9();
  await daemon.restart();
}

/** The contents of the last request behind the system prompt. */
const toldLast = () => model.requests.at(-1)?.body.messages.slice(1) ?? [];

test('a conversation of 5 000 messages survives kill -9 while a question waits and during an answer', async () => {
  const wsId = await imported();
  const client = await daemon.client();
  const held = stall();
  model.when('list it', callTools({ name: 'bash', arguments: { command: 'echo listed | tee listed' } }), [
    say('Half'),
    held,
  ]);
  await client.call('workstream.send', { wsId, message: 'list it', idempotencyKey: 'list' });
  const { approvalId } = await firstApproval(client, wsId);
  await killAndRestart();
  assert.equal((await firstApproval(client, wsId)).approvalId, approvalId);
  await client.call('approval.resolve', { approvalId, approved: true });
  await held.reached;

  model.when('list it', say('Not asked again.'), say('The whole answer.'));
  await killAndRestart();
  assert.equal((await client.call('agent.wait', { runId: 'list', timeoutMs: 60_000 })).status, 'ok');
  const told = toldLast();
  assert.equal(told.length, MESSAGES + 3);
  for (const index of [0, 1, MESSAGES - 1]) assert.equal(told[index]?.content, contentOf(index));
  assert.deepEqual(
    told.slice(MESSAGES).map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  );
  const exported = await (await daemon.fetch(`/v1/api/workstreams/${wsId}/export`)).json();
  assert.equal(exported.messages.length, MESSAGES + 4);
  assert.equal(exported.messages.at(-1).content, 'The whole answer.');
  assert.equal(exported.messages.filter(({ role }: FileMessage) => role === 'tool').length, 1);
  readLedger(daemon.home, wsId); // the database is consistent
});
