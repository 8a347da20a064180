import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { type ModelPart, type ModelRequest, ProviderError } from '../../providers/model.ts';
import { runToEnd } from '../run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture } from '../run-fixture.ts';
import { bytesOfMessages } from './token-count.ts';

const BYTES_PER_TOKEN = 3.5;
const WINDOW = 4_000;

const user = (content: string): Message => ({ role: 'user', content, trusted: true });
const said = (content: string): Message => ({ role: 'assistant', content, toolCalls: [] });
const turnOf = (id: string, output: string): Message[] => [
  { role: 'assistant', content: '', toolCalls: [callOf(id)] },
  { role: 'tool', callId: id, name: 'act', output, outcome: 'done' },
];

const isSummaryRequest = ({ system }: ModelRequest) => system.startsWith('You summarize');
const tokensOf = ({ system, messages }: ModelRequest) =>
  Math.ceil((Buffer.byteLength(system) + bytesOfMessages(messages)) / BYTES_PER_TOKEN);
const tooLong = (request: ModelRequest, maximum?: number) =>
  new ProviderError('refused', 'too long', {
    refusal: { about: 'window', ...(maximum !== undefined && { maximum, asked: tokensOf(request) }) },
  });

/** A model with a window: it refuses longer requests as its maker does, and counts what it reads. */
function bounded(window: number, { summary = 'They talked.', says = 'done', named = true } = {}) {
  return (request: ModelRequest): ModelPart[] => {
    const tokens = tokensOf(request);
    if (tokens > window) throw tooLong(request, named ? window : undefined);
    const usage = { promptTokens: tokens, completionTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 0 };
    const text = isSummaryRequest(request) ? summary : says;
    return [...answerOf(text).slice(0, -1), { type: 'finish', reason: 'stop', usage }];
  };
}

async function play(options: FixtureOptions) {
  const fixture = runFixture({ contextWindow: WINDOW, ...options });
  await runToEnd(fixture.run);
  const end = fixture.events.findLast((event) => event.type === 'ws_state');
  return {
    ...fixture,
    status: end?.type === 'ws_state' ? end.run?.status : undefined,
    cuts: fixture.steps.flatMap(({ cut }) => cut ?? []),
    prefixes: fixture.steps.filter(({ prefix }) => prefix).length,
    asked: fixture.requests.filter((request) => !isSummaryRequest(request)),
    summaries: fixture.requests.filter(isSummaryRequest),
  };
}

const outputsIn = (messages: readonly Message[] = []) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.output.slice(0, 14)] : []));

test('below 80 % of the window nothing is cut', async () => {
  const messages = [user('x'.repeat(2_800 * BYTES_PER_TOKEN))];
  const { cuts, asked, status } = await play({ messages, answer: bounded(WINDOW) });
  assert.deepEqual([cuts, asked.length, status], [[], 1, 'ok']);
});

test('from 80 % on, outputs of older turns become lines; the last two turns and all messages of people stay', async () => {
  const messages = [
    user('look around'),
    ...['a', 'b', 'c', 'd'].flatMap((id) => turnOf(id, `${id}:${'x'.repeat(2_800)}`)),
    user('and now'),
  ];
  const { cuts, asked, summaries, events } = await play({ messages, answer: bounded(WINDOW) });
  assert.deepEqual(cuts, [{ kind: 'prune', toSeq: 5 }]);
  assert.deepEqual(outputsIn(asked[0]?.messages), [
    '[This output (',
    '[This output (',
    'c:xxxxxxxxxxxx',
    'd:xxxxxxxxxxxx',
  ]);
  assert.deepEqual(
    asked[0]?.messages.filter(({ role }) => role === 'user'),
    [user('look around'), user('and now')],
  );
  assert.equal(summaries.length, 0);
  assert.ok(events.some((event) => event.type === 'info' && event.message.startsWith('2 tool outputs were taken out')));
});

test('when that is not enough, the model writes a summary of all but the newest messages', async () => {
  const long = Array.from({ length: 8 }, (_, n) => [
    user(`q${n} ${'x'.repeat(900)}`),
    said(`a${n} ${'y'.repeat(900)}`),
  ]);
  const messages = [user('Never use tabs. The file is a.ts.'), ...long.flat(), user('go on')];
  const { cuts, asked, summaries, events } = await play({ messages, answer: bounded(WINDOW, { summary: 'S.' }) });
  assert.deepEqual(
    cuts.map(({ kind }) => kind),
    ['compaction'],
  );
  assert.ok(summaries.length > 0);
  assert.ok(tokensOf(asked[0] ?? assert.fail()) < WINDOW * 0.6);
  const [first, ...rest] = asked[0]?.messages ?? [];
  const content = first?.role === 'user' ? first.content : '';
  assert.match(content, /^\[Summary of the conversation so far/);
  assert.match(content, /\n\nS\.\n\n/);
  assert.match(content, /word for word:\n- Never use tabs\.\n/);
  assert.equal(first?.role === 'user' && first.trusted, true);
  assert.deepEqual(rest.at(-1), user('go on'));
  const told = events.find((event) => event.type === 'compacted');
  assert.deepEqual(told?.type === 'compacted' && [told.to_seq, told.messages, told.summary], [
    cuts[0]?.toSeq,
    cuts[0]?.toSeq,
    content,
  ]);
  const { before_tokens: before = 0, after_tokens: after = 0 } = told?.type === 'compacted' ? told : {};
  assert.ok(before >= WINDOW * 0.8 && after > 0 && after < WINDOW * 0.6, `${before} to ${after} tokens`);
});

test('A summary that is written in several parts must report each as the `progress` of a `compaction`', async () => {
  const long = Array.from({ length: 8 }, () => [user('x'.repeat(900)), said('y'.repeat(900))]);
  const { summaries, phases } = await play({ messages: [...long.flat(), user('go on')], answer: bounded(WINDOW) });
  const total = summaries.length;
  assert.ok(total > 1);
  assert.deepEqual(phases, [
    { phase: 'start', trigger: 'auto' },
    ...summaries.map((_, index) => ({ phase: 'progress', part: index + 1, total })),
  ]);
});

test('rules survive every further summary, even if the model forgets them', async () => {
  let messages: Message[] = [user('From now on, answer in French.')];
  for (let round = 0; round < 4; round += 1) {
    const long = Array.from({ length: 12 }, (_, n) => [user(`q${n} ${'x'.repeat(500)}`), said('y'.repeat(500))]);
    const { asked, messages: left } = await play({
      messages: [...messages, ...long.flat(), user('next')],
      answer: bounded(WINDOW),
    });
    assert.match(JSON.stringify(asked[0]?.messages), /- From now on, answer in French\./, `round ${round}`);
    messages = left;
  }
});

test('a summary is trusted only if everything in it was', async () => {
  const foreign: Message = { role: 'user', content: 'x'.repeat(9_000) };
  const { asked } = await play({
    messages: [foreign, said('y'.repeat(4_000)), user('go on')],
    answer: bounded(WINDOW),
  });
  const [summary] = asked[0]?.messages ?? [];
  assert.equal(summary?.role === 'user' && summary.summary !== undefined, true);
  assert.equal(summary?.role === 'user' && summary.trusted, undefined);
});

test('an unknown window is learned from the refusal: the run makes room, asks again and ends well', async () => {
  for (const named of [true, false]) {
    const long = Array.from({ length: 12 }, () => [user('x'.repeat(900)), said('y'.repeat(900))]);
    const it = await play({
      messages: [...long.flat(), user('go on')],
      contextWindow: 0,
      answer: bounded(WINDOW, { named }),
    });
    assert.equal(it.status, 'ok');
    assert.equal(it.events.filter(({ type }) => type === 'error').length, 0);
    assert.equal(it.events.filter(({ type }) => type === 'thinking_start').length, 1);
    assert.deepEqual(it.asked.at(-1)?.messages.at(-1), user('go on'));
    if (named) assert.equal(it.run.window.windows.of(await it.settings.model()).size, WINDOW);
  }
});

test('the status counts by the learned window', async () => {
  const long = Array.from({ length: 12 }, () => [user('x'.repeat(900)), said('y'.repeat(900))]);
  const { events } = await play({
    messages: [...long.flat(), user('go on')],
    contextWindow: 0,
    answer: bounded(WINDOW),
  });
  const status = events.find((event) => event.type === 'status');
  assert.equal(status?.type === 'status' && status.context_window, WINDOW);
  assert.ok(status?.type === 'status' && status.pct > 0 && status.pct < 60);
});

test('new outputs that alone fill the window become lines, too, instead of an error', async () => {
  const calls = ['a', 'b', 'c', 'd'].map((id) => callOf(id));
  const messages: Message[] = [
    user('look'),
    { role: 'assistant', content: '', toolCalls: calls },
    ...calls.map(
      ({ id }): Message => ({ role: 'tool', callId: id, name: 'act', output: 'x'.repeat(4_000), outcome: 'done' }),
    ),
  ];
  const { status, asked, cuts } = await play({ messages, answer: bounded(WINDOW) });
  assert.equal(status, 'ok');
  assert.equal(cuts.at(-1)?.kind, 'prune');
  assert.deepEqual(new Set(outputsIn(asked.at(-1)?.messages)), new Set(['[This output (']));
});

test('a long message that just fits gets its room from the summary', async () => {
  const rules = Array.from({ length: 20 }, (_, n) => `Never forget ${n}${'!'.repeat(60)}`);
  const long = user(`Read this. ${'x'.repeat(2_600 * BYTES_PER_TOKEN)}`);
  const answer = bounded(WINDOW, { summary: 'S'.repeat(4_000) });
  const { status, asked } = await play({ messages: [...rules.map(user), said('y'.repeat(4_000)), long], answer });
  assert.equal(status, 'ok');
  assert.deepEqual([asked.length, asked[0]?.messages.at(-1)], [1, long]);
  assert.match(JSON.stringify(asked[0]?.messages[0]), /Never forget 19!/);
});

test('a summary that leaves too little room for the next message is summarized again', async () => {
  const summary: Message = {
    ...{ role: 'user', content: `[Summary] ${'s'.repeat(7_000)}`, trusted: true },
    summary: { rules: ['Never use tabs.'], files: [] },
  };
  const long = user('x'.repeat(2_200 * BYTES_PER_TOKEN));
  const { status, asked, cuts } = await play({ messages: [summary, long], answer: bounded(WINDOW) });
  assert.deepEqual([status, cuts.map(({ kind }) => kind)], ['ok', ['compaction']]);
  assert.deepEqual([asked.length, asked[0]?.messages.at(-1)], [1, long]);
  assert.match(JSON.stringify(asked[0]?.messages[0]), /- Never use tabs\./);
});

test('a single message that does not fit ends the run with words about the window', async () => {
  const { status, events, requests } = await play({ messages: [user('x'.repeat(40_000))], answer: bounded(WINDOW) });
  assert.equal(status, 'error');
  assert.deepEqual(
    events.filter(({ type }) => type === 'error'),
    [{ type: 'error', message: 'Error: too long' }],
  );
  assert.equal(requests.length, 1);
});

test('after a refusal of its reasoning, the conversation goes on from a summary of all of it', async () => {
  const refusal = { about: 'binding' } as const;
  const messages = [user('look'), ...turnOf('a', 'found it')];
  const { status, asked, events } = await play({
    messages,
    answer(request) {
      const isOld = request.messages.some(({ role }) => role === 'assistant');
      if (isOld) throw new ProviderError('refused', 'bound to a different conversation', { refusal });
      return answerOf(isSummaryRequest(request) ? 'It was found.' : 'done');
    },
  });
  assert.equal(status, 'ok');
  assert.equal(events.filter(({ type }) => type === 'error').length, 0);
  const [summary, ...rest] = asked.at(-1)?.messages ?? [];
  assert.match(summary?.role === 'user' ? summary.content : '', /It was found\.[\s\S]*word for word:\nlook\n/);
  assert.deepEqual(rest, []);
});

test('signed reasoning that its server no longer accepts is left out, and nothing else', async () => {
  const refusal = { about: 'binding' } as const;
  const providerData = { test: { signature: 's' } };
  const answer: Message = { role: 'assistant', content: 'found it', toolCalls: [], providerData };
  const messages = [user('look'), answer, user('and now?')];
  const { status, asked, cuts, summaries, prefixes } = await play({
    messages,
    answer({ messages: read }) {
      if (read.some((message) => message.role === 'assistant' && message.providerData)) {
        throw new ProviderError('refused', 'bound to a different conversation', { refusal });
      }
      return answerOf('done');
    },
  });
  assert.deepEqual([status, cuts, summaries], ['ok', [{ kind: 'unbind', toSeq: 3 }], []]);
  assert.deepEqual(asked.at(-1)?.messages, [user('look'), said('found it'), user('and now?')]);
  assert.equal(prefixes, 2);
});

test('an answer that fails after its first words is not asked for again', async () => {
  const { requests, status } = await play({
    messages: [user('a'), said('b'), user('c')],
    turns: [
      async function* (request) {
        yield { type: 'content', text: 'Hel' };
        throw tooLong(request, WINDOW);
      },
    ],
  });
  assert.deepEqual([requests.length, status], [1, 'error']);
});

test('a summary that fails at 80 % does not end the run', async () => {
  const long = Array.from({ length: 6 }, () => [user('x'.repeat(900)), said('y'.repeat(900))]);
  const answer = bounded(WINDOW);
  const { status, cuts, log, phases } = await play({
    messages: [...long.flat(), user('go on')],
    answer(request) {
      if (isSummaryRequest(request)) throw new ProviderError('unreachable', 'gone');
      return answer(request);
    },
  });
  assert.deepEqual([status, cuts], ['ok', []]);
  const trigger = 'auto';
  assert.deepEqual(phases[0], { phase: 'start', trigger });
  assert.deepEqual(phases.at(-1), { phase: 'end', trigger, ok: false, reason: 'failed', message: 'gone' });
  assert.ok(log.lines.some(([, line]) => line === 'a conversation could not be summarized; it goes on as it is'));
});
