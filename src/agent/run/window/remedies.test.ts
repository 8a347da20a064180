import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { type ModelRequest, ProviderError } from '../../providers/model.ts';
import { runToEnd } from '../run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture } from '../run-fixture.ts';

const user = (content: string): Message => ({ role: 'user', content, trusted: true });
const turnOf = (id: string, output: string): Message[] => [
  { role: 'assistant', content: '', toolCalls: [callOf(id)] },
  { role: 'tool', callId: id, name: 'act', output, outcome: 'done' },
];
const isSummaryRequest = ({ system }: ModelRequest) => system.startsWith('You summarize');

async function play(options: FixtureOptions) {
  const fixture = runFixture(options);
  await runToEnd(fixture.run);
  const end = fixture.events.findLast((event) => event.type === 'ws_state');
  return {
    ...fixture,
    status: end?.type === 'ws_state' ? end.run?.status : undefined,
    cuts: fixture.steps.flatMap(({ cut }) => cut ?? []),
    asked: fixture.requests.filter((request) => !isSummaryRequest(request)),
  };
}

const POISON = 'what the server refuses';
const refused = new ProviderError('refused', 'test answered 400: no');
const messageIn = (events: { type: string }[]) =>
  events.flatMap((event) => ('message' in event ? [event.message] : []));

test('after a turn whose results its server refused, the next message goes on from a summary without them', async () => {
  const messages: Message[] = [
    user('hello'),
    { role: 'assistant', content: 'hi', toolCalls: [] },
    user('look'),
    ...turnOf('a', POISON),
    user('and now?'),
  ];
  const { status, asked, cuts } = await play({
    messages,
    answer(request) {
      if (JSON.stringify(request.messages).includes(POISON)) throw refused;
      return answerOf(isSummaryRequest(request) ? 'It was looked at.' : 'done');
    },
  });
  assert.deepEqual([status, cuts.map(({ kind, toSeq }) => [kind, toSeq])], ['ok', [['compaction', 5]]]);
  const [summary, ...rest] = asked.at(-1)?.messages ?? [];
  assert.match(summary?.role === 'user' ? summary.content : '', /It was looked at\./);
  assert.deepEqual(rest, [user('and now?')]);
});

test('a server that refuses everything changes nothing, and the error says how turns are taken back', async () => {
  const { status, cuts, events } = await play({
    messages: [user('look'), ...turnOf('a', 'found'), user('and now?')],
    answer() {
      throw refused;
    },
  });
  assert.deepEqual([status, cuts], ['error', []]);
  assert.match(
    String(messageIn(events)),
    /test answered 400: no\. If the server keeps refusing, \/rewind takes back this/,
  );
});

test('a refusal in the middle of a turn says how it is taken back; one of a first message does not', async () => {
  const answer = (request: ModelRequest) => {
    if (JSON.stringify(request.messages).includes(POISON)) throw refused;
    return answerOf('', [callOf('a', 'act')]);
  };
  const execute = () => ({ output: POISON, outcome: 'done' as const });
  const later = await play({ messages: [user('look')], tools: { act: { execute } }, answer });
  assert.match(String(messageIn(later.events)), /If the server refuses the next message, too, \/rewind takes back/);
  const first = await play({ messages: [user(POISON)], answer });
  assert.deepEqual(messageIn(first.events), ['Error: test answered 400: no']);
});

test('instructions and tools that alone exceed the window are named, with what helps', async () => {
  const tooLong = () => {
    throw new ProviderError('refused', 'too long', { refusal: { about: 'window', maximum: 1 } });
  };
  const { events, status } = await play({ messages: [user('hi')], contextWindow: 1, answer: tooLong });
  assert.equal(status, 'error');
  assert.match(
    String(messageIn(events)),
    /too long\. The instructions and tools alone take about \d+ tokens\. Choose a model with a larger window, or set its contextWindow/,
  );
});
