import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { turnLines } from '../support/clients/story.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import type { Answer, ChatRequest } from '../support/model/scripted-model.ts';
import { callTools, fail, finishWith, say, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const INCOMPLETE = 'The answer is incomplete: it was cut off at the model’s output limit.';
const LENGTH = finishWith('length');

/** The model's answers in the conversation that begins with this message. */
const answers = new Map<string, Answer[]>();
model.onRequest((body) => answers.get(questionOf(body))?.shift());

const questionOf = ({ messages }: ChatRequest) => String(messages.find(({ role }) => role === 'user')?.content);
const requestsOf = (message: string) =>
  model.requests.map(({ body }) => body).filter((body) => questionOf(body) === message);

/** Asks, and waits until the run is incomplete for the caller and everybody else. */
async function askInVain(talk: Conversation, message: string): Promise<void> {
  const { answer, runId } = await talk.ask(message);
  await assert.rejects(answer, {
    code: 'UNAVAILABLE',
    message: INCOMPLETE,
    payload: { runId, status: 'error', summary: INCOMPLETE },
  });
  const { status, error } = await talk.client.call('agent.wait', { runId });
  assert.deepEqual({ status, error }, { status: 'error', error: INCOMPLETE });
}

test('an answer that is cut off is continued as one answer, and the next request repeats both parts', async () => {
  await using talk = await openConversation(daemon);
  answers.set('tell a tale', [[say('Once upon'), LENGTH], say(' a time.'), say('No.')]);
  await (await talk.ask('tell a tale')).answer;
  const ledger = await talk.agree();
  assert.deepEqual(talk.story(), ['agent: tell a tale', ...turnLines('Once upon a time.'), 'state idle (ok)']);
  assert.deepEqual(speechOf(ledger), ['user: tell a tale', 'assistant: Once upon a time.']);
  await (await talk.ask('another?')).answer;
  const [first, second, third] = requestsOf('tell a tale').map(({ messages }) => messages);
  assert.ok(first && second && third);
  assert.deepEqual(second.slice(0, first.length), first);
  assert.deepEqual(third.slice(0, second.length), second);
  assert.deepEqual(
    third.slice(first.length).map(({ role, content }) => `${role}: ${content}`),
    [
      'assistant: Once upon',
      'user: Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.',
      'assistant:  a time.',
      'user: another?',
    ],
  );
});

test('an answer whose continuation is cut off, too, ends the run as incomplete, and the text stays', async () => {
  await using talk = await openConversation(daemon);
  answers.set('too long', [
    [say('Once'), LENGTH],
    [say(' upon'), LENGTH],
  ]);
  await askInVain(talk, 'too long');
  const ledger = await talk.agree();
  assert.deepEqual(talk.story(), [
    'agent: too long',
    ...turnLines('Once upon'),
    `error: ${INCOMPLETE}`,
    'state idle (incomplete)',
  ]);
  const last = ledger.messages.at(-1);
  assert.deepEqual(last?.role === 'assistant' && [last.content, last.partial], ['Once upon', true]);
});

test('an answer whose continuation the model refuses is incomplete, and the conversation goes on', async () => {
  await using talk = await openConversation(daemon);
  answers.set('no room', [[say('Once'), LENGTH], fail(400, { message: 'context is full' }), say('Fine.')]);
  await askInVain(talk, 'no room');
  await (await talk.ask('and now?')).answer;
  assert.deepEqual(speechOf(await talk.agree()), [
    ...['user: no room', 'assistant: Once'],
    ...['user: and now?', 'assistant: Fine.'],
  ]);
});

test('reasoning that is cut off before the answer is incomplete', async () => {
  await using talk = await openConversation(daemon);
  answers.set('think hard', [[think('hm, hm'), LENGTH]]);
  await askInVain(talk, 'think hard');
  await talk.agree();
  assert.equal(talk.story().at(-1), 'state idle (incomplete)');
});

test('a call that is cut off does not run; the model reads why and may go on', async () => {
  await using talk = await openConversation(daemon);
  const cut: Answer = [callTools({ name: 'bash', arguments: '{"command": "rm -r' }), LENGTH];
  answers.set('write it all', [cut, say('In parts, then.')]);
  await (await talk.ask('write it all')).answer;
  const { messages } = await talk.agree();
  const result = messages.find((message) => message.role === 'tool');
  assert.deepEqual([result?.outcome, result?.durationMs], ['failed', undefined]);
  assert.match(result?.output ?? '', /^Not run: your answer was cut off at the output limit/);
  answers.set('write it twice', [cut, cut]);
  await using other = await openConversation(daemon);
  await askInVain(other, 'write it twice');
  await other.agree();
});

test('over HTTP, a cut answer is an error event, then idle', async () => {
  const { ws_id: wsId } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  await using stream = await daemon.sse(wsId);
  answers.set('by http', [
    [say('Once'), LENGTH],
    [say(' upon'), LENGTH],
  ]);
  await daemon.post('/v1/api/send', { ws_id: wsId, message: 'by http' });
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  const [error, , idle] = stream.frames.slice(-3).map(({ data }) => data);
  assert.deepEqual([error?.type, error?.message], ['error', INCOMPLETE]);
  assert.deepEqual([idle?.type, idle?.state, idle?.run.status], ['ws_state', 'idle', 'incomplete']);
});

test('headgate run prints what there is of a cut answer, and exits with 1', async () => {
  answers.set('by hand', [
    [say('Once'), LENGTH],
    [say(' upon'), LENGTH],
  ]);
  const { code, stdout, stderr } = await runHeadgate(['run', 'by hand'], { HEADGATE_HOME: daemon.home });
  assert.deepEqual([code, stdout], [1, 'Once upon\n']);
  assert.match(stderr, /headgate: The answer is incomplete/);
});

test('a job whose answer is cut off has the status error', async () => {
  const client = await daemon.client();
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message: 'by the clock' },
    name: 'Cut',
  });
  answers.set(`[cron:${id} Cut] by the clock`, [
    [say('Once'), LENGTH],
    [say(' upon'), LENGTH],
  ]);
  const finished = Promise.withResolvers<void>();
  client.on('cron', ({ action, jobId }) => {
    if (action === 'finished' && jobId === id) finished.resolve();
  });
  await client.call('cron.run', { id, mode: 'force' });
  await finished.promise;
  const { entries } = await client.call('cron.runs', { id, extended: true });
  assert.deepEqual([entries.at(-1)?.status, entries.at(-1)?.error], ['error', INCOMPLETE]);
  const { jobs } = await client.call('cron.list', { includeDisabled: true });
  assert.equal(jobs.find((job) => job.id === id)?.state.lastStatus, 'error');
});
