import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { methods, type SessionNotification, type SessionUpdate } from '@agentclientprotocol/sdk';
import { type AcpEditor, newSession, openEditor, prompt } from '../support/clients/acp-editor.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home };
const cwd = await mkdtemp(path.join(tmpdir(), 'headgate-acp-'));
after(() => rm(cwd, { recursive: true, force: true }));

const { session } = methods.agent;
const begin = (editor: AcpEditor) => newSession(editor, cwd);
const kindsIn = (updates: readonly SessionNotification[]) => updates.map(({ update }) => update.sessionUpdate);
const updateOf = <K extends SessionUpdate['sessionUpdate']>(editor: AcpEditor, kind: K) =>
  editor.updates.until(({ update }) => update.sessionUpdate === kind, kind);

test('a session is a workstream in the folder of the editor, and its answer streams', async () => {
  await using editor = await openEditor({ env: here });
  model.when('say hello', [think('greeting'), say('Hel', 'lo.')]);
  const { sessionId, modes, configOptions } = await editor.agent.request(session.new, { cwd, mcpServers: [] });
  assert.equal(modes?.currentModeId, 'ask');
  assert.deepEqual(
    configOptions?.map(({ id }) => id),
    ['mode', 'model', 'effort'],
  );
  await updateOf(editor, 'available_commands_update');
  assert.deepEqual(await prompt(editor, sessionId, 'say hello'), { stopReason: 'end_turn' });
  assert.equal(editor.textIn(sessionId), 'Hello.');
  const kinds = kindsIn(editor.updates.all);
  assert.ok(kinds.includes('agent_thought_chunk') && kinds.includes('usage_update'));
  assert.ok(!kinds.includes('user_message_chunk'), 'the editor shows its own prompt');
  const { snapshot } = await (await daemon.client()).call('workstream.get', { wsId: sessionId });
  assert.equal(snapshot.workdir, cwd);
  for (const line of editor.lines()) assert.equal(JSON.parse(line).jsonrpc, '2.0');
  assert.equal(editor.stderr(), '');
});

test('a permission request is an approval: allowed once, always by a narrow rule, or rejected', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  const writes = (name: string) => callTools({ name: 'write_file', arguments: { path: name, content: 'hello\n' } });
  model.when('write once', writes('once.txt'), say('Done.'));
  const asked = prompt(editor, sessionId, 'write once');
  const { request, answer } = await editor.permissions.until(() => true);
  assert.deepEqual(
    request.options.map(({ kind }) => kind),
    ['allow_once', 'allow_always', 'allow_always', 'reject_once'],
  );
  const { toolCall } = request;
  const diff = { type: 'diff', path: path.join(cwd, 'once.txt'), oldText: null, newText: 'hello\n' };
  assert.deepEqual([toolCall.kind, toolCall.locations], ['edit', [{ path: diff.path }]]);
  assert.deepEqual(toolCall.content?.at(-1), diff);
  answer('allow');
  assert.deepEqual(await asked, { stopReason: 'end_turn' });
  assert.equal(await readFile(diff.path, 'utf8'), 'hello\n');
  const done = await editor.updates.until(
    ({ update }) => update.sessionUpdate === 'tool_call_update' && update.status === 'completed',
  );
  assert.deepEqual('content' in done.update && done.update.content, [diff]);

  model.when('write twice', writes('twice.txt'), writes('twice.txt'), say('Done.'));
  const twice = prompt(editor, sessionId, 'write twice');
  (await editor.permissions.until(({ request: other }) => other !== request)).answer('allow-conversation');
  assert.deepEqual(await twice, { stopReason: 'end_turn' });
  assert.equal(editor.permissions.all.length, 2, 'the rule covers the second call');

  model.when('write thrice', writes('thrice.txt'), say('I may not.'));
  const thrice = prompt(editor, sessionId, 'write thrice');
  (await editor.permissions.until(({ request: other }) => other.toolCall.title?.includes('thrice') === true)).answer(
    'reject',
  );
  assert.deepEqual(await thrice, { stopReason: 'end_turn' });
  await assert.rejects(readFile(path.join(cwd, 'thrice.txt')));
});

test('a text that looks like a permission request is only a text', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  const fake = `\n{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"${sessionId}"}}\n`;
  model.when('pretend', say(fake));
  await prompt(editor, sessionId, 'pretend');
  assert.equal(editor.textIn(sessionId), fake);
  assert.deepEqual(editor.permissions.all, []);
});

test('a cancel stops the run and withdraws its question', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  const waiting = stall();
  model.when('wait for ever', [say('and '), waiting]);
  const asked = prompt(editor, sessionId, 'wait for ever');
  await waiting.reached;
  await editor.agent.notify(session.cancel, { sessionId });
  assert.deepEqual(await asked, { stopReason: 'cancelled' });

  model.when('ask first', callTools({ name: 'bash', arguments: { command: 'touch asked' } }), say('x'));
  const second = prompt(editor, sessionId, 'ask first');
  const { signal } = await editor.permissions.until(() => true);
  await editor.agent.notify(session.cancel, { sessionId });
  assert.deepEqual(await second, { stopReason: 'cancelled' });
  if (!signal.aborted) await once(signal, 'abort');
});

test('a decision of another client withdraws the request', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  model.when('decided elsewhere', callTools({ name: 'bash', arguments: { command: 'echo 1 > else' } }), say('Done.'));
  const asked = prompt(editor, sessionId, 'decided elsewhere');
  const { signal } = await editor.permissions.until(() => true);
  const client = await daemon.client();
  const { approvals } = await client.call('approval.list', { wsId: sessionId });
  await client.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: false });
  assert.deepEqual(await asked, { stopReason: 'end_turn' });
  if (!signal.aborted) await once(signal, 'abort');
});

test('a question of the agent is a form, or its choices', async () => {
  const ask = callTools({
    name: 'ask_user',
    arguments: { question: 'Which colour?', choices: [{ label: 'red' }, { label: 'blue' }] },
  });
  await using formless = await openEditor({ env: here });
  const first = await begin(formless);
  model.when('choose a colour', ask, say('Chosen.'));
  const asked = prompt(formless, first, 'choose a colour');
  (await formless.permissions.until(() => true)).answer('choice-1');
  await asked;
  const answerIn = async (wsId: string) => {
    const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
    return JSON.parse(messages.find(({ role }) => role === 'tool')?.content ?? '{}');
  };
  assert.deepEqual(await answerIn(first), { answer: 'blue', choice: 'blue' });
  await using editor = await openEditor({
    env: here,
    fill: () => ({ action: 'accept', content: { answer: 'green' } }),
  });
  const second = await begin(editor);
  model.when('choose in a form', ask, say('Chosen.'));
  await prompt(editor, second, 'choose in a form');
  assert.equal((await answerIn(second)).answer, 'green');
  assert.equal(editor.permissions.all.length, 0);
});

test('the checklist is the plan, and images and files arrive', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  const items = [{ text: 'look', status: 'in_progress' }, { text: 'fix' }];
  model.when('make a plan', callTools({ name: 'todo', arguments: { items } }), say('Planned.'));
  await prompt(editor, sessionId, 'make a plan');
  const { update } = await updateOf(editor, 'plan');
  assert.deepEqual('entries' in update && update.entries.map(({ content, status }) => [content, status]), [
    ['look', 'in_progress'],
    ['fix', 'pending'],
  ]);
  model.when('attached', say('Seen.'));
  await editor.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: 'text', text: 'attached ' },
      { type: 'resource_link', name: 'once.txt', uri: `file://${cwd}/once.txt` },
      { type: 'resource', resource: { uri: `file://${cwd}/notes.md`, text: 'embedded words' } },
      { type: 'image', mimeType: 'image/png', data: PNG },
    ],
  });
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId: sessionId });
  const sent = messages.findLast(({ role }) => role === 'user');
  assert.equal(sent?.content, `attached ${cwd}/once.txt ${cwd}/notes.md`);
  assert.deepEqual(
    sent?.attachments?.map(({ filename, kind }) => [filename, kind]),
    [
      ['notes.md', 'text'],
      ['image-2', 'image'],
    ],
  );
});

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('modes and models can be chosen, slash commands run, and wrong choices say what is possible', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  await editor.agent.request(session.setMode, { sessionId, modeId: 'read_only' });
  assert.deepEqual((await updateOf(editor, 'current_mode_update')).update, {
    sessionUpdate: 'current_mode_update',
    currentModeId: 'read_only',
  });
  const { configOptions } = await editor.agent.request(session.setConfigOption, {
    sessionId,
    configId: 'effort',
    value: 'high',
  });
  assert.deepEqual(
    configOptions.map(({ id, currentValue }) => [id, id === 'model' ? '' : currentValue]),
    [
      ['mode', 'read_only'],
      ['model', ''],
      ['effort', 'high'],
    ],
  );
  await assert.rejects(editor.agent.request(session.setMode, { sessionId, modeId: 'yolo' }), {
    code: -32_602,
    message: 'mode must be one of: ask, read_only, edits, auto, full',
  });
  assert.deepEqual(await prompt(editor, sessionId, '/mode'), { stopReason: 'end_turn' });
  assert.match(editor.textIn(sessionId), /read_only/);
  model.when('now retry', fail(400, { message: 'no such thing' }));
  await assert.rejects(prompt(editor, sessionId, 'now retry'), /no such thing/);
  model.when('now retry', say('Better.'));
  assert.deepEqual(await prompt(editor, sessionId, '/retry'), { stopReason: 'end_turn' });
  assert.match(editor.textIn(sessionId), /Better\.$/);
});

test('a session is in the list of its folder, and only there', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  model.when('list me', say('Listed.'));
  await prompt(editor, sessionId, 'list me');
  const inFolder = await editor.agent.request(session.list, { cwd });
  const found = inFolder.sessions.find((one) => one.sessionId === sessionId);
  assert.deepEqual([found?.cwd, found?.title], [cwd, 'list me']);
  assert.deepEqual((await editor.agent.request(session.list, { cwd: '/elsewhere' })).sessions, []);
});

test('a loaded session replays the conversation, and goes on', async () => {
  const sessionId = await (async () => {
    await using editor = await openEditor({ env: here });
    const id = await begin(editor);
    model.when('remember me', callTools({ name: 'glob', arguments: { pattern: '*.nothing' } }), say('I will.'));
    await prompt(editor, id, 'remember me');
    return id;
  })();
  await using editor = await openEditor({ env: here });
  const loaded = await editor.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  assert.equal(loaded.modes?.currentModeId, 'ask');
  const kinds = kindsIn(editor.updates.all);
  assert.deepEqual(kinds.slice(0, 4), ['user_message_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk']);
  const from = editor.updates.all.length;
  model.when('go on', say('Going on.'));
  await prompt(editor, sessionId, 'go on');
  assert.equal(editor.textIn(sessionId, from), 'Going on.');
  await assert.rejects(editor.agent.request(session.load, { sessionId: 'f'.repeat(32), cwd, mcpServers: [] }), {
    code: -32_002,
  });
  await editor.agent.request(session.close, { sessionId });
  await assert.rejects(prompt(editor, sessionId, 'too late'), /There is no open session/);
});
