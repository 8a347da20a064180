import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

async function restart(...conversations: Conversation[]): Promise<void> {
  await daemon.restart();
  for (const conversation of conversations) await conversation.reconnect();
}

/** Lets the agent start a command in the background. Returns its id. */
async function startInBackground(talk: Conversation, command: string): Promise<string> {
  model.when(command, callTools({ name: 'bash', arguments: { command, run_in_background: true } }), say('It runs.'));
  await talk.ended(await talk.ask(command));
  return (await talk.until('background_command', (event) => event.command === command)).command_id;
}

const endOf = async (talk: Conversation, id: string) =>
  (await talk.until('background_command', ({ command_id, state }) => command_id === id && state === 'ended')).end;

test('a kill of the daemon ends background commands, and the next run tells the model', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const id = await startInBackground(talk, 'echo printed; setsid sleep 2001 & sleep 2001');
  const { output_bytes: bytes } = await talk.until('background_command', ({ output_bytes }) => output_bytes > 0);
  assert.equal(bytes, 8);
  await daemon.kill9();
  await restart(talk);
  assert.equal(await endOf(talk, id), 'lost');
  assert.deepEqual(await commandLinesWith('sleep 2001'), []);
  model.when('and now', say('I see.'));
  await talk.ended(await talk.ask('and now'));
  const { messages } = await talk.agree();
  const told = messages.filter(
    (message) => message.role === 'user' && message.environment && message.content.includes(id),
  );
  assert.equal(told.length, 1);
  assert.match(
    String(told[0]?.role === 'user' && told[0].content),
    /Headgate stopped unexpectedly.*<output>\nprinted\n/s,
  );
  const { text } = await talk.client.call('background.output', { wsId: talk.wsId, commandId: id });
  assert.equal(text, 'printed\n');
});

test('a kill keeps what a background command has just printed, although no event has told of it', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const ids = {
    loud: await startInBackground(talk, 'echo just now; sleep 2002'),
    silent: await startInBackground(talk, 'sleep 2002'),
  };
  const outputOf = async (commandId: string) => {
    const { text, command } = await talk.client.call('background.output', { wsId: talk.wsId, commandId });
    return [text, command.last_output];
  };
  const args = { bash_id: ids.loud, wait_for: 'just now' };
  model.when('look', callTools({ name: 'bash_output', arguments: args }), say('It is up.'));
  await talk.ended(await talk.ask('look'));
  await daemon.kill9();
  await restart(talk);
  assert.deepEqual(await outputOf(ids.loud), ['just now\n', 'just now\n']);
  assert.deepEqual(await outputOf(ids.silent), ['', '']);
});

test('an orderly stop of the daemon ends background commands and says so', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const id = await startInBackground(talk, 'trap "" TERM; sleep 2011 & wait; sleep 2011');
  await restart(talk);
  assert.equal(await endOf(talk, id), 'shutdown');
  assert.deepEqual(await commandLinesWith('sleep 2011'), []);
  await talk.agree();
});
