import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createToolFixture, execute, recordRun, toShown } from '../tool-fixture.ts';
import { askUserTool } from './ask-user.ts';

const parse = (args: object) => askUserTool.parameters.parse(args);
const CHOICES = [{ label: '80' }, { label: '443', description: 'with TLS' }];

test('a question is shown with its choices, also to clients that only approve', async () => {
  await using it = await createToolFixture();
  const prepared = await askUserTool.prepare(
    parse({ question: 'Which port?\nThe old one is 80.', choices: CHOICES }),
    it.context(),
  );
  assert.deepEqual(toShown(prepared), {
    kind: 'ready',
    subject: 'Which port?',
    preview: 'Which port?\nThe old one is 80.\n- 80\n- 443: with TLS',
    approvalLabel: 'ask_user',
    needsApproval: true,
    question: { text: 'Which port?\nThe old one is 80.', choices: CHOICES },
  });
});

test('the answer is the result as data; without one it is null', async () => {
  await using it = await createToolFixture();
  const prepared = await askUserTool.prepare(parse({ question: 'Which port?', choices: CHOICES }), it.context());
  const answers = [undefined, { text: '' }, { choice: '80' }, { text: 'the "old" one', choice: '80' }];
  const results: string[] = [];
  for (const answer of answers) results.push((await execute(prepared, { ...recordRun(), answer })).output);
  assert.deepEqual(results, [
    '{"answer":null}',
    '{"answer":""}',
    '{"answer":"80","choice":"80"}',
    '{"answer":"the \\"old\\" one","choice":"80"}',
  ]);
});

test('an empty question, equal labels and too many choices are refused', async () => {
  await using it = await createToolFixture();
  const why = async (args: object) => {
    const prepared = await askUserTool.prepare(parse(args), it.context());
    return prepared.kind === 'refused' && prepared.reason;
  };
  assert.equal(await why({ question: ' \n ' }), 'The question is empty.');
  assert.equal(
    await why({ question: 'x', choices: [{ label: 'a' }, { label: 'a' }] }),
    'Two choices have the same label.',
  );
  const many = Array.from({ length: 9 }, (_, n) => ({ label: String(n) }));
  assert.equal(askUserTool.parameters.safeParse({ question: 'x', choices: many }).success, false);
});
