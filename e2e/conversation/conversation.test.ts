import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { turnLines } from '../support/clients/story.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, type ScriptedCall, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const bash = (command: string, id?: string): ScriptedCall => ({
  name: 'bash',
  arguments: { command },
  ...(id !== undefined && { id }),
});
const workFile = (name: string) => path.join(daemon.home, 'workspace', name);

/** The last messages sent to the model, without the system prompt. */
const lastHeard = () => model.requests.at(-1)?.body.messages.slice(1) ?? [];
const resultsHeard = () => lastHeard().flatMap(({ role, content }) => (role === 'tool' ? [content] : []));

async function decideNext(talk: Conversation, decision: { approved: boolean; feedback?: string; always?: boolean }) {
  const request = await talk.until('approve_request');
  await talk.decide(request.approval_id, decision);
  return request;
}

test('parallel calls share one approval, run in parallel and are shown in order', async () => {
  await using talk = await openConversation(daemon);
  await writeFile(workFile('notes.txt'), 'milk\n');
  // Each waits for the other, and the first call ends last.
  const first = 'touch one; until [ -e two ]; do sleep 0.02; done; sleep 0.1; echo first';
  const second = 'touch two; until [ -e one ]; do sleep 0.02; done; echo second';
  const third = { name: 'read_file', arguments: { path: 'notes.txt' }, id: 'c' };
  model.when('in parallel', callTools(bash(first, 'a'), bash(second, 'b'), third), say('done'));
  const { answer } = await talk.ask('in parallel');
  const { items, kind } = await decideNext(talk, { approved: true });
  await answer;
  assert.deepEqual(
    {
      kind,
      items: items.map(({ call_id, header, needs_approval, error }) => [call_id, header, needs_approval, error]),
    },
    {
      kind: 'tools',
      items: [
        ['a', `bash: ${first}`, true, null],
        ['b', `bash: ${second}`, true, null],
        ['c', 'read_file: notes.txt', false, null],
      ],
    },
  );
  assert.deepEqual(new Set(resultsHeard()), new Set(['first\n', 'second\n', '     1\tmilk']));
  await talk.agree();
  const { snapshot } = await talk.client.call('workstream.get', { wsId: talk.wsId });
  const results = snapshot.messages.filter(({ role }) => role === 'tool');
  assert.deepEqual(
    results.map(({ call_id, content }) => [call_id, content]),
    [
      ['a', 'first\n'],
      ['b', 'second\n'],
      ['c', '     1\tmilk'],
    ],
  );
});

test('the events of a turn with one tool call arrive in order', async () => {
  await using talk = await openConversation(daemon);
  model.when('in order', [say('Let me look.'), callTools(bash('echo here | tee asked'))], say('There.'));
  const { answer } = await talk.ask('in order');
  await decideNext(talk, { approved: true });
  await answer;
  const ledger = await talk.agree();
  assert.deepEqual(talk.story(), [
    'agent: in order',
    ...turnLines('Let me look.'),
    ...['asks tools bash', 'state attention', 'approved', 'state running'],
    ...['output of call_0: here\n', 'bash answers: here'],
    ...turnLines('There.'),
    'state idle (ok)',
  ]);
  assert.deepEqual(speechOf(ledger), ['user: in order', 'assistant: Let me look.', 'tool: here', 'assistant: There.']);
});

test('a denial without feedback reaches the model, and nothing runs', async () => {
  await using talk = await openConversation(daemon);
  model.when('denied', callTools(bash('touch denied.txt')), say('as you like'));
  const { answer } = await talk.ask('denied');
  await decideNext(talk, { approved: false });
  await answer;
  assert.deepEqual(resultsHeard(), ['Denied by user']);
  await assert.rejects(access(workFile('denied.txt')), { code: 'ENOENT' });
  await talk.agree();
});

test('the remark of an approval reaches the model after the results', async () => {
  await using talk = await openConversation(daemon);
  model.when('with a remark', callTools(bash('echo built | tee asked')), say('unasked'));
  model.when('but quietly', say('quietly'));
  const { answer } = await talk.ask('with a remark');
  await decideNext(talk, { approved: true, feedback: 'but quietly' });
  await answer;
  assert.deepEqual(
    lastHeard()
      .slice(-2)
      .map(({ role, content }) => [role, content]),
    [
      ['tool', 'built\n'],
      ['user', 'but quietly'],
    ],
  );
  assert.equal(speechOf(await talk.agree()).at(-1), 'assistant: quietly');
});

test('after `always` later calls in this workstream run without approval; other workstreams still ask', async () => {
  await using talk = await openConversation(daemon);
  await using other = await openConversation(daemon);
  model.when('always', callTools(bash('echo one | tee asked')), callTools(bash('echo two | tee asked')), say('done'));
  const { answer } = await talk.ask('always');
  await decideNext(talk, { approved: true, always: true });
  await answer;
  const { approvals } = await talk.agree();
  assert.deepEqual([approvals.length, resultsHeard()], [1, ['one\n', 'two\n']]);
  assert.equal((await talk.until('settings_changed')).skip_permissions, true);
  const elsewhere = await other.ask('always');
  await decideNext(other, { approved: true });
  const again = await other.until('approve_request', ({ items }) => items[0]?.header === 'bash: echo two | tee asked');
  await other.decide(again.approval_id, { approved: true });
  await elsewhere.answer;
});

test('malformed arguments and an unknown tool reach the model as errors, and a valid call next to them runs', async () => {
  await using talk = await openConversation(daemon);
  const malformed = { name: 'bash', arguments: '{"command": "echo', id: 'a' };
  const unknown = { name: 'teleport', arguments: {}, id: 'b' };
  const wrong = { name: 'bash', arguments: { comand: 'ls' }, id: 'c' };
  model.when('mistakes', callTools(malformed, unknown, wrong, bash('echo fine | tee asked', 'd')), say('sorry'));
  const { answer } = await talk.ask('mistakes');
  const { items } = await decideNext(talk, { approved: true });
  await answer;
  const [malformedError, unknownError, wrongError, none] = items.map(({ error }) => error ?? '');
  assert.match(malformedError ?? '', /^JSON parse error: /);
  assert.match(unknownError ?? '', /^Unknown tool: teleport\. Available tools: bash, /);
  assert.match(wrongError ?? '', /^Invalid arguments: .*command/);
  assert.equal(none, '');
  assert.deepEqual(resultsHeard(), [malformedError, unknownError, wrongError, 'fine\n']);
  await talk.agree();
});

test('when every call is invalid, no approval is requested', async () => {
  await using talk = await openConversation(daemon);
  model.when('only mistakes', callTools({ name: 'teleport', arguments: {} }), say('sorry'));
  await (await talk.ask('only mistakes')).answer;
  const { approvals } = await talk.agree();
  assert.deepEqual(approvals, []);
  const { items } = await talk.until('tool_info');
  assert.match(items[0]?.error ?? '', /^Unknown tool/);
});

test('a file is read and edited after its diff was shown; an edit whose text is not found is refused', async () => {
  await using talk = await openConversation(daemon);
  await writeFile(workFile('poem.txt'), 'roses are red\nviolets are blue\n');
  const edit = (old_string: string, new_string: string) =>
    callTools({ name: 'edit_file', arguments: { path: 'poem.txt', old_string, new_string } });
  model.when(
    'edit the poem',
    edit('red', 'white'),
    callTools({ name: 'read_file', arguments: { path: 'poem.txt' } }),
    edit('are red', 'are white'),
    edit('tulips', 'lilies'),
    edit('are', 'were'),
    say('done'),
  );
  const { answer } = await talk.ask('edit the poem');
  const { items } = await decideNext(talk, { approved: true });
  await answer;
  assert.deepEqual(
    items.map(({ header, approval_label }) => [header, approval_label]),
    [['edit_file: poem.txt', 'edit_file']],
  );
  assert.match(items[0]?.preview ?? '', /^-roses are red\n\+roses are white\n violets are blue$/m);
  assert.equal(await readFile(workFile('poem.txt'), 'utf8'), 'roses are white\nviolets are blue\n');
  assert.deepEqual(
    resultsHeard().map((text) => String(text).trim().split('\n', 1)[0]),
    [
      'poem.txt has not been read yet; read it before editing.',
      '1\troses are red',
      'Replaced poem.txt (2 lines).',
      'old_string was not found in poem.txt; it must match exactly.',
      'old_string was found 2 times in poem.txt (lines 1, 2); include more of its surroundings.',
    ],
  );
  assert.equal((await talk.agree()).approvals.length, 1);
});

test('an edit is not applied if the file changed while the approval was pending', async () => {
  await using talk = await openConversation(daemon);
  const read = callTools({ name: 'read_file', arguments: { path: 'list.txt' } });
  const write = callTools({ name: 'write_file', arguments: { path: 'list.txt', content: 'eggs\n' } });
  await writeFile(workFile('list.txt'), 'milk\n');
  model.when('replace the list', read, write, say('done'));
  const { answer } = await talk.ask('replace the list');
  const { approval_id: approvalId } = await talk.until('approve_request');
  await writeFile(workFile('list.txt'), 'milk and honey\n');
  await talk.decide(approvalId, { approved: true });
  await answer;
  assert.equal(await readFile(workFile('list.txt'), 'utf8'), 'milk and honey\n');
  assert.match(String(resultsHeard().at(-1)), /no longer matches what was approved|has changed since/);
});

test('a second client sees the approval and the decision of the first client', async () => {
  await using talk = await openConversation(daemon);
  const other = await daemon.client();
  const { promise: requested, resolve: onRequested } = Promise.withResolvers<unknown>();
  const { promise: resolved, resolve: onResolved } = Promise.withResolvers<unknown>();
  other.on('approval.requested', onRequested);
  other.on('approval.resolved', onResolved);
  model.when('seen by both', callTools(bash('touch it')), say('done'));
  const { answer } = await talk.ask('seen by both');
  const { approvals } = await other.call('approval.list', { wsId: await requested.then(() => talk.wsId) });
  const { askedAtMs, ...asked } = approvals[0] ?? assert.fail('nothing waits');
  assert.deepEqual(await requested, asked);
  assert.ok(askedAtMs < asked.expiresAtMs);
  const { approvalId, sessionKey } = asked;
  await other.call('approval.resolve', { approvalId, approved: true });
  assert.deepEqual(await resolved, { approvalId, wsId: talk.wsId, sessionKey, approved: true });
  await answer;
  await talk.agree();
});
