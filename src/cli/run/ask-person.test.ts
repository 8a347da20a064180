import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { ReadStream } from 'node:tty';
import { STARTLE_MS } from '../chat/answers/question-keys.ts';
import type { Question } from '../terminal/question-lines.ts';
import { askPerson } from './ask-person.ts';

const item = { call_id: 'q1', header: 'ask_user', preview: '', func_name: 'ask_user', approval_label: 'ask_user' };
const ASKED: Question = {
  approvalId: 'a1',
  kind: 'tools',
  items: ['q1', 'q2'].map((call_id) => ({
    ...{ ...item, call_id, needs_approval: true, error: null },
    question: { text: `Colour of ${call_id}?`, choices: [{ label: 'red' }, { label: 'blue', description: 'cold' }] },
  })),
};
const PLAIN: Question = { ...ASKED, items: [{ ...item, needs_approval: true, error: null }] };

/** Types each text, or does something else, some time after the terminal has shown what comes before it. */
async function answer(
  question: Question,
  typed: readonly [after: string, next: string | (() => void), afterMs?: number][],
  signal?: AbortSignal,
) {
  const isRaw: boolean[] = [];
  const keys = new PassThrough();
  const input = Object.assign(keys, { isTTY: true, setRawMode: (raw: boolean) => void isRaw.push(raw) });
  const waiting = [...typed];
  let nowMs = 0;
  let shown = '';
  let since = '';
  const output = new PassThrough();
  const goOn = () => {
    const [next] = waiting;
    if (!next || !since.includes(next[0])) return;
    waiting.shift();
    since = '';
    const [, then, afterMs = STARTLE_MS] = next;
    setImmediate(() => {
      nowMs += afterMs;
      if (typeof then === 'string') keys.write(then, () => waiting[0]?.[0] === '' && goOn());
      else then();
    });
  };
  output.on('data', (chunk: Buffer) => {
    shown += chunk;
    since += chunk;
    goOn();
  });
  const decision = await askPerson(question, {
    input: input as unknown as ReadStream, // the parts of one that are used
    output,
    showAll: () => void output.write('ALL'),
    nowMs: () => nowMs,
    signal: signal ?? new AbortController().signal,
  });
  return { decision, shown, isRaw: isRaw.at(-1) };
}

test('w takes a line for each question, the number of a choice or any text', async () => {
  const { decision, shown, isRaw } = await answer(ASKED, [
    ['view all: ', 'w'],
    ['answer › ', '2\r'],
    ['answer › ', 'greem\x7fn\r'],
  ]);
  assert.deepEqual(decision, {
    approved: true,
    decisions: { q1: { approved: true, choice: 'blue' }, q2: { approved: true, answer: 'green' } },
  });
  assert.ok(shown.includes('Colour of q1?\n  1 red\n  2 blue: cold\nEnter answer · Esc back\n'), shown);
  assert.equal(isRaw, false, 'the terminal is left as it was');
});

test('Escape leads back to the keys, Ctrl-C interrupts, and calls without a question have no w', async () => {
  const back = await answer(ASKED, [
    ['view all: ', 'w'],
    ['answer › ', 'half\x1b'],
    ['view all: ', 'n'],
  ]);
  assert.deepEqual(back.decision, { approved: false });
  const interrupted = await answer(ASKED, [
    ['view all: ', 'w'],
    ['answer › ', '\x03'],
  ]);
  assert.equal(interrupted.decision, 'interrupt');
  const plain = await answer(PLAIN, [
    ['y approve · n deny · v view all: ', 'wv'],
    ['ALLy approve · n deny · v view all: ', 'y'],
  ]);
  assert.deepEqual([plain.decision, plain.shown.includes('write the answer')], [{ approved: true }, false]);
});

test('a decision elsewhere ends the line that is being typed', async () => {
  const over = new AbortController();
  const { decision, isRaw } = await answer(
    ASKED,
    [
      ['view all: ', 'w'],
      ['answer › ', () => over.abort()],
    ],
    over.signal,
  );
  assert.deepEqual([decision, isRaw], [undefined, false]);
});

test('keys that were typed before the question could be read do not answer it, also when it is shown again', async () => {
  const early = STARTLE_MS - 1;
  const { decision } = await answer(ASKED, [
    ['view all: ', 'yarn', early],
    ['', 'v', 1],
    ['ALLw write the answer · y approve · n deny · v view all: ', 'y', early],
    ['', 'w', 1],
    ['answer › ', '\x1b'],
    ['view all: ', 'y', early],
    ['', 'n', 1],
  ]);
  assert.deepEqual(decision, { approved: false });
});
