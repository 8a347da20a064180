import assert from 'node:assert/strict';
import { test } from 'node:test';
import { has, isQuiet, openChat } from '../support/clients/chat-terminal.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();

type Chat = Awaited<ReturnType<typeof openChat>>;

/** Types a line, and waits until its answer is complete. */
async function ask(chat: Chat, line: string, answer: string): Promise<string[]> {
  chat.type(`${line}\r`);
  return chat.until((rows) => has(answer)(rows) && isQuiet(rows), answer);
}

test('/effort and /model are completed with Tab, and show and set what applies', async () => {
  await using chat = await openChat(daemon);
  await ask(chat, '/effort', 'Effort: medium');
  chat.type('/effort h');
  await chat.until(has('  high'), 'the suggestion');
  chat.type('\t\r');
  await chat.until((rows) => has('Effort: high')(rows) && isQuiet(rows), 'the effort');
  const client = await daemon.client();
  const { snapshot } = await client.call('workstream.get', { wsId: chat.wsId });
  assert.equal(snapshot.effort, 'high');
  await ask(chat, '/effort extreme', 'Unknown effort "extreme". Usage: /effort [low | medium | high]');

  const alias = snapshot.workstream.modelAlias;
  const rows = await ask(chat, '/model', `* ${alias}  (`);
  assert.ok(rows.some((row) => row.startsWith(`* ${alias}  (openai-compatible/`)));
  chat.type('/model ');
  await chat.until((seen) => seen.some((row) => row.startsWith(`  ${alias}  `)), 'the models');
  chat.type('\t');
  await chat.until((seen) => seen.at(-1) === `› /model ${alias}`, 'the completed line');
  chat.type('\r');
  await chat.until(has(`Model: ${alias}`), 'the choice');
});
