import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ParamsInput } from '../../../protocol/index.ts';
import { type Conversation, openConversation, type Question } from '../../support/clients/conversation.ts';
import type { Answer } from '../../support/model/scripted-model.ts';
import { callTools, fail, say, stall, think } from '../../support/model/scripted-steps.ts';
import type { Recording } from './recording.ts';

/** Opens a workstream for one scene. */
export async function openScene(
  { daemon, model }: Recording,
  name: string,
  options: ParamsInput<'workstream.create'> = {},
): Promise<Scene> {
  const talk = await openConversation(daemon, { name, ...options });
  const decided = new Set<string>();
  const approvalId = async () => {
    const { approval_id: id } = await talk.until('approve_request', (event) => !decided.has(event.approval_id));
    decided.add(id);
    return id;
  };
  return {
    talk,
    approvalId,
    ask(message, ...answers) {
      model.when(message, ...answers);
      return talk.ask(message);
    },
    decide: async (decision) => void (await talk.decide(await approvalId(), decision)),
  };
}

export interface Scene {
  talk: Conversation;
  ask(message: string, ...answers: Answer[]): Promise<Question>;
  /** Waits for the next approval that was not returned before. */
  approvalId(): Promise<string>;
  decide(decision: { approved: boolean; feedback?: string; always?: boolean }): Promise<void>;
}

export const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** Records finished conversations, one for each way to end. */
export async function finishedConversations(recording: Recording): Promise<void> {
  await toolCalls(recording);
  await decisions(recording);
  await longOutput(recording);
  await cancelled(recording);
  await failed(recording);
  await renamed(recording);
  await sessions(recording);
  await inOtherFolder(recording);
}

async function toolCalls(recording: Recording): Promise<void> {
  await writeFile(path.join(recording.home, 'workspace', 'seeds.txt'), 'beans\npeas\n');
  const { talk, ask, decide } = await openScene(recording, 'tools');
  const question = await ask(
    'use every tool',
    [think('First ', 'a look.'), say('I look.'), readFile('seeds.txt')],
    readFile('missing.txt'),
    callTools({ name: 'search', arguments: { query: 'peas' } }, { name: 'list_directory', arguments: { path: '.' } }),
    callTools({ name: 'write_file', arguments: { path: 'plan.md', content: '# Beds\n\n1. beans\n' } }),
    callTools({ name: 'edit_file', arguments: { path: 'plan.md', old_string: 'beans', new_string: 'peas' } }),
    bash('echo one; echo two'),
    bash('echo no >&2; exit 3'),
    say('All ', 'done. ', '**Beds** are planned.'),
  );
  for (let n = 1; n <= 4; n += 1) await decide({ approved: true });
  await question.answer;
  await talk.ended(question);
  talk.client.close();
}

/** Records a few conversations: rows with checksums, and folders with their identity. */
export async function fewConversations(recording: Recording): Promise<void> {
  await toolCalls(recording);
  await decisions(recording);
  await inOtherFolder(recording);
  const client = await recording.daemon.client();
  const { workstreams } = await client.call('workstream.list', {});
  const wsId = workstreams.find(({ name }) => name === 'tools')?.wsId ?? '';
  await client.call('workstream.update', { wsId, readable: [path.join(recording.root, 'lent')] });
  client.close();
}

/** Records an output with more lines than a result contains, which is stored in a file. */
async function longOutput(recording: Recording): Promise<void> {
  const { talk, ask, decide } = await openScene(recording, 'long');
  const command = "yes '' | head -n 2010";
  const question = await ask(
    'agree often',
    callTools({ name: 'bash', arguments: { command }, id: 'long' }),
    say('Yes.'),
  );
  await decide({ approved: true });
  await question.answer;
  await talk.ended(question);
  talk.client.close();
}

async function decisions(recording: Recording): Promise<void> {
  const { talk, ask, decide, approvalId } = await openScene(recording, 'decisions');
  const denied = await ask('remove everything', bash('rm -r beds'), say('I leave it.'));
  await decide({ approved: false, feedback: 'not the beds' });
  await denied.answer;
  const plain = await ask('remove the fence', bash('rm -r fence'), say('It stays.'));
  await decide({ approved: false });
  await plain.answer;
  const dropped = await ask('remove the gate', bash('rm -r gate'), say('never said'));
  dropped.answer.catch(() => undefined); // told as a failure: it is cancelled
  await approvalId();
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await talk.ended(dropped);
  talk.client.close();
}

async function cancelled(recording: Recording): Promise<void> {
  const { talk, ask, decide } = await openScene(recording, 'cancelled');
  const question = await ask('wait for rain', bash('echo waiting; sleep 600'), say('never said'));
  question.answer.catch(() => undefined); // told as a failure: it is cancelled
  await decide({ approved: true });
  await talk.until('tool_output_chunk');
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await talk.ended(question);
  const endless = stall();
  const second = await ask('tell me a long story', [say('Once ', 'upon '), endless]);
  second.answer.catch(() => undefined); // told as a failure: it is cancelled
  await endless.reached;
  await talk.client.call('chat.abort', { sessionKey: talk.wsId, runId: second.runId });
  await talk.ended(second);
  talk.client.close();
}

async function failed(recording: Recording): Promise<void> {
  const { talk, ask } = await openScene(recording, 'failed');
  const question = await ask('what is wrong?', fail(400, { message: 'this model is not for you' }));
  await assert.rejects(question.answer);
  await talk.ended(question);
  talk.client.close();
}

/** Records a conversation that was named, given another model, cleared and closed. */
async function renamed(recording: Recording): Promise<void> {
  const { talk, ask } = await openScene(recording, 'renamed', { model: 'other' });
  const { wsId } = talk;
  const first = await ask('before the clearing', say('I was here.'));
  await first.answer;
  await talk.ended(first);
  const command = (text: string) => talk.client.call('workstream.command', { wsId, command: text });
  for (const text of ['/name Greenhouse', '/clear', '/model local', '/help']) await command(text);
  const second = await ask('after the clearing', say('I am still here.'));
  await second.answer;
  await talk.ended(second);
  const { wsId: copy } = await talk.client.call('workstream.create', { name: 'copy' });
  await talk.client.call('workstream.command', { wsId: copy, command: '/resume tools' });
  await talk.client.call('workstream.close', { wsId });
  talk.client.close();
}

/** Records sessions that programs address by key. */
async function sessions({ daemon, model }: Recording): Promise<void> {
  const client = await daemon.client();
  const agent = (message: string, sessionKey: string) => {
    model.when(message, say(`To ${message}: `, 'noted.'));
    return client.call('agent', { message, sessionKey, idempotencyKey: `agent ${message}` });
  };
  await agent('first note', 'notes');
  await client.call('sessions.patch', { key: 'notes', thinkingLevel: 'low', verboseLevel: 'on' });
  await agent('second note', 'notes');
  await client.call('sessions.reset', { key: 'notes' });
  model.when('third note', say('To third note: noted.'));
  const send = { message: 'third note', sessionKey: 'notes', idempotencyKey: 'chat third note' };
  await client.call('chat.send', send);
  await client.call('agent.wait', { runId: send.idempotencyKey });
  await agent('a greeting', 'main');
  await agent('soon gone', 'gone');
  await client.call('sessions.delete', { key: 'gone' });
  client.close();
}

async function inOtherFolder(recording: Recording): Promise<void> {
  const workdir = path.join(recording.root, 'project');
  const { talk, ask } = await openScene(recording, 'project', { workdir });
  const question = await ask('what does the project say?', readFile('readme.txt'), say('It greets.'));
  await question.answer;
  await talk.ended(question);
  talk.client.close();
}

const readFile = (file: string) => callTools({ name: 'read_file', arguments: { path: file } });
