import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckedOutput } from '../output/answer-checks.ts';
import type { RunOutput } from '../output/asked-output.ts';
import { StopReason } from '../stop-reason.ts';
import { runToEnd } from './run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture, until } from './run-fixture.ts';

const schema = { type: 'object', description: 'no </schema> here' };
const WRONG = [{ path: '/a', message: 'must be <string>' }];
const MISFIT = 'The answer does not fit the JSON Schema of the request: /a must be <string>.';

/** `{…}` fits, everything else does not. */
const output: RunOutput = {
  schema,
  isTrusted: true,
  check: async (text): Promise<CheckedOutput> =>
    text.startsWith('{') ? { fits: true, output: JSON.parse(text) } : { fits: false, errors: WRONG },
};

async function ended(options: FixtureOptions) {
  const fixture = runFixture({ output, ...options });
  assert.equal(await runToEnd(fixture.run), 'ended');
  const { summary: _, said: __, ...outcome } = fixture.steps.at(-1)?.ended ?? assert.fail('no end');
  const contents = fixture.messages.map((message) => `${message.role}: ${'content' in message ? message.content : ''}`);
  return { ...fixture, outcome, contents };
}

test('a run with a schema tells the model of it after the request, and ends with the data', async () => {
  const { outcome, events, contents, requests, messages } = await ended({ turns: [answerOf('{"a":"b"}')] });
  const data = { run_id: 'run_1', status: 'ok', output: { a: 'b' } };
  assert.deepEqual(outcome, data);
  assert.deepEqual(events.at(-1), { type: 'ws_state', ws_id: 'ws-1', state: 'idle', run: data });
  assert.equal(contents.length, 3);
  assert.match(contents[1] ?? '', /^user: <environment>\nThe request above asks for data/);
  assert.match(contents[1] ?? '', /\n\{"type":"object","description":"no \\u003c\/schema> here"\}\n<\/schema>\n/);
  assert.equal(requests[0]?.messages.length, 2);
  assert.ok(messages[1]?.role === 'user' && messages[1].trusted);
});

test('the schema and its errors count no more than a request that is not trusted', async () => {
  const turns = [answerOf('no'), answerOf('{}')];
  const { messages } = await ended({ output: { ...output, isTrusted: false }, turns });
  const told = messages.filter((message) => message.role === 'user' && message.environment);
  assert.deepEqual(
    told.map((message) => 'trusted' in message),
    [false, false],
  );
});

test('the schema is told once, although calls come between', async () => {
  const turns = [answerOf('', [callOf('one')]), answerOf('{}')];
  const { contents, requests, outcome } = await ended({ turns, tools: { act: {} }, autoApprove: true });
  assert.equal(contents.filter((content) => content.includes('<schema>')).length, 1);
  const [first, second] = requests;
  assert.deepEqual(second?.messages.slice(0, first?.messages.length), first?.messages); // the prefix stays
  assert.deepEqual([second?.system, second?.tools], [first?.system, first?.tools]);
  assert.deepEqual(outcome.output, {});
});

test('an answer that does not fit is sent back with its errors; the next one counts', async () => {
  const { outcome, contents, events, journal } = await ended({ turns: [answerOf('no'), answerOf('{"a":1}')] });
  assert.deepEqual(outcome, { run_id: 'run_1', status: 'ok', output: { a: 1 } });
  assert.match(
    contents[3] ?? '',
    /^user: <environment>\nYour answer does not fit .*\n- \/a: must be &lt;string>\nAnswer again/,
  );
  assert.ok(events.some((event) => event.type === 'info' && event.message === `${MISFIT} The model is asked again.`));
  assert.deepEqual(
    journal.map(({ kind }) => kind),
    ['model_called', 'model_answered', 'output_refused', 'model_called', 'model_answered', 'ended'],
  );
});

test('a run whose third answer does not fit either ends with an error that has the errors as data', async () => {
  const { outcome, requests, events } = await ended({ turns: [answerOf('no'), answerOf('no'), answerOf('no')] });
  assert.equal(requests.length, 3);
  assert.deepEqual(outcome, { run_id: 'run_1', status: 'error', error: MISFIT, output_errors: WRONG });
  assert.ok(events.some((event) => event.type === 'error' && event.message === `Error: ${MISFIT}`));
});

test('an answer that a content filter removed is not sent back', async () => {
  const use = { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const { outcome, requests } = await ended({ turns: [[{ type: 'finish', reason: 'content_filter', usage: use }]] });
  assert.equal(requests.length, 1);
  assert.deepEqual([outcome.status, outcome.failed?.code], ['error', 'content_filter']);
});

test('after a restart, an answer that was refused is not checked again, and one that was not is', async () => {
  const asked = [
    { kind: 'started' as const },
    { kind: 'model_called' as const, afterSeq: 1 },
    { kind: 'model_answered' as const, calls: [] },
  ];
  const said = [
    { role: 'user' as const, content: 'hello' },
    { role: 'assistant' as const, content: '{"stored":1}', toolCalls: [] },
  ];
  const whole = await ended({ journal: asked, messages: [...said] });
  assert.deepEqual([whole.requests.length, whole.outcome.output], [0, { stored: 1 }]);
  const journal = [...asked, { kind: 'output_refused' as const }];
  const turns = [answerOf('no'), answerOf('no')];
  const refused = await ended({ journal, messages: [...said, { role: 'user', content: 'it does not fit' }], turns });
  assert.deepEqual([refused.requests.length, refused.outcome.output_errors], [2, WRONG]);
});

test('a cancel during the check ends the run as cancelled', async () => {
  let isChecking = false;
  const check: RunOutput['check'] = (_, signal) => {
    isChecking = true;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const fixture = runFixture({ output: { ...output, check }, turns: [answerOf('{}')] });
  const running = runToEnd(fixture.run);
  await until(() => isChecking);
  fixture.stop(new StopReason('cancel', 'cancelled'));
  await running;
  assert.equal(fixture.steps.at(-1)?.ended?.status, 'cancelled');
});

test('a limit that ended the run counts more than its schema', async () => {
  const { outcome } = await ended({
    turns: [answerOf('', [callOf('one')]), answerOf('In short: no data.')],
    ...{ tools: { act: {} }, autoApprove: true, isTimeShort: true },
  });
  assert.deepEqual([outcome.status, outcome.limit, outcome.output_errors], ['timeout', 'time', undefined]);
});
