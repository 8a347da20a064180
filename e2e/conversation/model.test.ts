import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { turnLines } from '../support/clients/story.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, reset, say, stall, think, useTokens } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const cancel = ({ client, wsId }: Conversation, force = false) => client.call('workstream.cancel', { wsId, force });

/** Sends a question and ignores how it ends. */
async function askFor(talk: Conversation, message: string) {
  const question = await talk.ask(message);
  question.answer.catch(() => undefined); // the log has the result
  return question;
}

test('reasoning is separate from the answer and stored with it', async () => {
  await using talk = await openConversation(daemon);
  model.when('think first', [think('let me ', 'think'), say('done')]);
  await (await talk.ask('think first')).answer;
  const { messages } = await talk.agree();
  assert.deepEqual(talk.story(), [
    'agent: think first',
    ...['thinking_start', 'state thinking', 'thinking_stop', 'reasoning: let me think', 'content: done'],
    ...['stream_end', 'status', 'state idle (ok)'],
  ]);
  const last = messages.at(-1);
  assert.deepEqual(last?.role === 'assistant' && [last.content, last.reasoning], ['done', 'let me think']);
});

test('token counts, including cached tokens, are reported after each turn', async () => {
  await using talk = await openConversation(daemon);
  model.when('count', [say('one'), useTokens({ prompt: 3_000, completion: 200, cached: 2_500 })]);
  await (await talk.ask('count')).answer;
  const status: object = await talk.until('status');
  assert.deepEqual(status, {
    type: 'status',
    prompt_tokens: 3_000,
    completion_tokens: 200,
    total_tokens: 3_200,
    context_window: 1_000_000,
    pct: 0.3,
    effort: 'medium',
    turn_count: 1,
    tool_calls_this_turn: 0,
    ws_id: talk.wsId,
    cache_creation_tokens: 0,
    cache_read_tokens: 2_500,
  });
});

test('a request to a busy model is retried, and the wait is shown', async () => {
  await using talk = await openConversation(daemon);
  let asked = 0;
  model.onRequest(({ messages }) => {
    if (messages.at(-1)?.content !== 'patience') return undefined;
    asked += 1;
    return asked === 1 ? fail(429) : say('here you are');
  });
  await (await talk.ask('patience')).answer;
  await talk.agree();
  const [start, state, ...rest] = turnLines('here you are');
  const story = ['agent: patience', start, state, 'wait_start', 'wait_stop', ...rest, 'state idle (ok)'];
  assert.deepEqual([asked, talk.story()], [2, story]);
});

test('after three failures the run ends with the message of the model', async () => {
  await using talk = await openConversation(daemon);
  model.when('broken', fail(500, { message: 'out of memory' }));
  const question = await askFor(talk, 'broken');
  await talk.ended(question);
  await talk.agree();
  const message = `openai-compatible at ${model.url} answered 500: out of memory`;
  assert.deepEqual(talk.story(), [
    ...['agent: broken', 'thinking_start', 'state thinking'],
    ...['wait_start', 'wait_stop', 'wait_start', 'wait_stop'],
    ...[`error: Error: ${message}`, 'stream_end', 'state error (error)'],
  ]);
  await assert.rejects(question.answer, { code: 'UNAVAILABLE', message });
});

test('a connection that breaks during an answer ends the run, and the partial answer stays', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('breaks', [say('half an answer'), hold, reset()]);
  const question = await askFor(talk, 'breaks');
  await talk.until('content');
  hold.release();
  await talk.ended(question);
  assert.deepEqual(speechOf(await talk.agree()), ['user: breaks', 'assistant: half an answer']);
  assert.deepEqual(talk.story().at(-1), 'state error (error)');
  model.when('go on', say('the rest'));
  await (await talk.ask('go on')).answer;
  const heard = model.requests
    .at(-1)
    ?.body.messages.slice(1)
    .map(({ content }) => content);
  assert.deepEqual(heard, ['breaks', 'half an answer', 'go on']);
  await talk.agree();
});

test('a cancel closes the connection to the model', async () => {
  for (const [name, answer] of Object.entries({
    'before it answers': [stall()],
    'in mid-answer': [say('half'), stall()],
  })) {
    await using talk = await openConversation(daemon);
    model.when(name, answer);
    const index = model.requests.length;
    const question = await askFor(talk, name);
    const upstream = await model.request(index);
    if (name === 'in mid-answer') await talk.until('content');
    const cancelled = cancel(talk);
    assert.deepEqual(await upstream.closed, { whole: false });
    await cancelled;
    await talk.ended(question);
    const shown = name === 'in mid-answer' ? ['thinking_stop', 'content: half'] : [];
    assert.deepEqual(talk.story(), [
      ...[`agent: ${name}`, 'thinking_start', 'state thinking', ...shown],
      ...['cancelled', 'stream_end', 'state idle (cancelled)'],
    ]);
    await talk.agree();
  }
});

test('a cancel denies a pending approval', async () => {
  await using talk = await openConversation(daemon);
  model.when('never mind', callTools({ name: 'bash', arguments: { command: 'touch it' } }));
  const question = await askFor(talk, 'never mind');
  await talk.until('approve_request');
  await cancel(talk);
  await talk.ended(question);
  await talk.agree();
  assert.deepEqual(talk.story().slice(-7), [
    ...['asks tools bash', 'state attention', 'denied Cancelled by user', 'bash fails: Cancelled by user'],
    ...['cancelled', 'stream_end', 'state idle (cancelled)'],
  ]);
  assert.deepEqual(await talk.pending(), []);
});

test('a cancel stops a running tool, and its output stays', async () => {
  await using talk = await openConversation(daemon);
  model.when('stop it', callTools({ name: 'bash', arguments: { command: 'echo up | tee up; sleep 60' } }));
  const question = await askFor(talk, 'stop it');
  await talk.decide((await talk.until('approve_request')).approval_id, { approved: true });
  await talk.until('tool_output_chunk');
  await cancel(talk);
  await talk.ended(question);
  await talk.agree();
  assert.deepEqual(talk.story().slice(-5), [
    ...['output of call_0: up\n', 'bash fails: up\n[cancelled]'],
    ...['cancelled', 'stream_end', 'state idle (cancelled)'],
  ]);
});

test('a forced cancel immediately ends a tool that ignores signals, and frees the workstream', async () => {
  await using talk = await openConversation(daemon);
  const command = "trap '' TERM; touch it; echo up; sleep 60";
  model.when('deaf', callTools({ name: 'bash', arguments: { command } }));
  const question = await askFor(talk, 'deaf');
  await talk.decide((await talk.until('approve_request')).approval_id, { approved: true });
  await talk.until('tool_output_chunk');
  await cancel(talk, true);
  await talk.ended(question);
  assert.deepEqual(talk.story().slice(-2), ['stream_end', 'state idle (cancelled)']);
  model.when('are you free', say('yes'));
  await (await talk.ask('are you free')).answer;
  assert.equal(speechOf(await talk.agree()).at(-1), 'assistant: yes');
});

test('a cancel also drops all queued messages', async () => {
  await using talk = await openConversation(daemon);
  model.when('at the head', stall());
  const questions = [];
  for (const message of ['at the head', 'second', 'third']) questions.push(await askFor(talk, message));
  const { dropped } = await cancel(talk);
  assert.deepEqual(dropped.queuedMessages, { count: 2, firstPreview: 'second' });
  for (const { answer } of questions) await assert.rejects(answer, { code: 'CONFLICT' });
  const ledger = await talk.agree();
  assert.deepEqual([speechOf(ledger), ledger.runs.length], [['user: at the head'], 3]);
});
