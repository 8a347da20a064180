import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { type Model, type ModelRequest, ProviderError } from '../../providers/model.ts';
import { answerOf } from '../run-fixture.ts';
import { summarize } from './summary.ts';
import { shorten, toTranscript } from './transcript.ts';

const user = (content: string): Message => ({ role: 'user', content, trusted: true });
const SIZE = { part: 4_000, text: 2_000, rules: 1_000 };

function summarizer(answer: (request: ModelRequest) => string, spare?: Model) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    ...{ alias: 's', provider: 'test', modelId: 's', contextWindow: 0, family: 'test', fallback: [] },
    async *stream(request) {
      requests.push(request);
      yield* answerOf(answer(request));
    },
  };
  const run = (messages: Message[], focus?: string) =>
    summarize(messages, {
      summarizer: { model, ...(spare && { spare }) },
      size: SIZE,
      focus,
      endsInTurn: true,
      signal: new AbortController().signal,
    });
  return { requests, run };
}

const textOf = ({ messages }: ModelRequest) => (messages[0]?.role === 'user' ? messages[0].content : '');

test('a long conversation is summarized part by part, each with the summary so far', async () => {
  const { requests, run } = summarizer((request) => `summary ${requests.indexOf(request) + 1}`);
  const {
    summary: { content },
  } = await run(Array.from({ length: 9 }, (_, n) => user(`message ${n} ${'x'.repeat(1_000)}`)));
  assert.ok(requests.length >= 3);
  assert.doesNotMatch(textOf(requests[0] ?? assert.fail()), /summary_so_far/);
  assert.match(textOf(requests[1] ?? assert.fail()), /<summary_so_far>\nsummary 1\n/);
  assert.match(content, new RegExp(`\n\nsummary ${requests.length}\n\n`));
  for (const request of requests) assert.deepEqual([request.tools, request.typedByPerson], [[], false]);
});

test('the focus, the latest words of the person and the files are in it', async () => {
  const { requests, run } = summarizer(() => 'S');
  const files: Message = {
    ...{ role: 'tool', callId: 'c', name: 'read_file', output: 'x', outcome: 'done', files: { '/work/a.ts': 'hash' } },
  };
  const {
    summary: { content, summary },
  } = await run([user('Fix it.'), files], 'the deadline');
  assert.match(textOf(requests[0] ?? assert.fail()), /keep in particular: the deadline/);
  assert.match(content, /word for word:\nFix it\./);
  assert.match(content, /- \/work\/a\.ts/);
  assert.deepEqual(summary, { rules: [], files: ['/work/a.ts'], isClean: true });
  const page: Message = { ...files, taint: { kind: 'network', target: 'example.org' } };
  assert.equal((await run([page, user('Fix it.')], undefined)).summary.summary?.isClean, undefined);
});

test('if the parts are too long for the model, it gets smaller ones', async () => {
  const { requests, run } = summarizer((request) => {
    if (textOf(request).length > 2_600) throw new ProviderError('refused', 'no', { refusal: { about: 'window' } });
    return 'S';
  });
  await run(Array.from({ length: 6 }, () => user('x'.repeat(900))));
  assert.ok(requests.length >= 4);
});

test('a model that refuses or says nothing is replaced by the beginnings of the messages', async () => {
  for (const answer of ['', undefined]) {
    const { run } = summarizer(() => {
      if (answer === undefined) throw new ProviderError('refused', 'filtered');
      return answer;
    });
    const { summary, notes } = await run([
      user('Build the shed.'),
      { role: 'assistant', content: 'Done.', toolCalls: [] },
    ]);
    assert.match(summary.content, /Person: Build the shed\.\nAgent: Done\./);
    assert.deepEqual(notes, ['The model wrote no summary, so the beginnings of the messages stand in its place.']);
  }
});

test('if the named model fails, the one of the conversation writes the summary', async () => {
  const spare: Model = {
    ...{ alias: 'own', provider: 'test', modelId: 'own', contextWindow: 0, family: 'test', fallback: [] },
    async *stream() {
      yield* answerOf('From its own model.');
    },
  };
  for (const kind of ['unreachable', 'refused', 'unauthorized'] as const) {
    const { run } = summarizer(() => {
      throw new ProviderError(kind, 'no');
    }, spare);
    const {
      summary: { content },
    } = await run([user('a')]);
    assert.match(content, /From its own model\./);
  }
});

test('people learn how many rules have no room in the summary', async () => {
  const { run } = summarizer(() => 'S');
  const rules = Array.from({ length: 4 }, (_, n) => user(`Never do ${n} ${'x'.repeat(300)}`));
  const { notes, summary } = await run(rules);
  assert.equal(summary.summary?.rules.length, 3);
  assert.deepEqual(notes, [
    'One sentence that may be a rule has no room in the summary word for word. Repeat what is important.',
  ]);
  assert.deepEqual((await run([user('Never push.')])).notes, []);
});

test('other failures are the caller’s', async () => {
  const { run } = summarizer(() => {
    throw new ProviderError('unreachable', 'gone');
  });
  await assert.rejects(run([user('a')]), { kind: 'unreachable' });
});

test('no part of a transcript is longer than allowed, and all messages are in it', () => {
  const messages = Array.from({ length: 20 }, (_, n) => user(`<${n}>${'é'.repeat(n * 100)}`));
  const parts = toTranscript(messages, 3_000);
  for (const part of parts) assert.ok(Buffer.byteLength(part) <= 3_000);
  for (let n = 0; n < 20; n += 1) assert.ok(parts.join('').includes(`<${n}>`), `message ${n}`);
});

test('a shortened text keeps both ends and no half characters', () => {
  assert.equal(shorten('short', 10), 'short');
  assert.equal(shorten(`a${'é'.repeat(20)}z`, 12), 'aéé\n[… 30 bytes left out …]\nééz');
});

test('the checklist survives while something on it is open, also from an earlier summary', async () => {
  const { run } = summarizer(() => 'S');
  const call = (id: string, status: string): Message[] => [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id, name: 'todo', arguments: JSON.stringify({ items: [{ text: 'mend it', status }] }) }],
    },
    { role: 'tool', callId: id, name: 'todo', output: '', outcome: 'done' },
  ];
  const { summary } = await run([user('go'), ...call('a', 'pending'), ...call('b', 'in_progress')]);
  assert.match(summary.content, /\n\nYour checklist at its end:\n\[>\] mend it\n\n/);
  const later = await run([summary, user('go on')]);
  assert.match(later.summary.content, /\[>\] mend it/);
  const done = await run([summary, user('go on'), ...call('c', 'done')]);
  assert.doesNotMatch(done.summary.content, /mend it/);
});
