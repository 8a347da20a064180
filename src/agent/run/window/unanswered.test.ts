import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { runToEnd } from '../run.ts';
import { answerOf, runFixture } from '../run-fixture.ts';

const user = (content: string): Message => ({ role: 'user', content, trusted: true });
const said = (content: string): Message => ({ role: 'assistant', content, toolCalls: [] });

test('a summary never replaces a message that was not answered yet, even if a message of the daemon follows it', async () => {
  const told = { date: '', zone: '', model: '', notSandboxed: null, instructions: {}, tools: {} };
  const note: Message = { role: 'user', content: 'x'.repeat(1_000), environment: { version: 'v', told } };
  const long = Array.from({ length: 6 }, () => [user('x'.repeat(900)), said('y'.repeat(900))]);
  const messages = [...long.flat(), user(`look ${'z'.repeat(3_000)}`), note];
  const { run, steps } = runFixture({ contextWindow: 4_000, messages, answer: () => answerOf('done') });
  await runToEnd(run);
  const cuts = steps.flatMap(({ cut }) => (cut ? [[cut.kind, cut.toSeq]] : []));
  assert.deepEqual(cuts, [['compaction', 12]]);
});
