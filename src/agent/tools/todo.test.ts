import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTodoTool } from './todo.ts';
import { createToolFixture, execute, toShown } from './tool-fixture.ts';

test('a call stores the whole list, which is shown to people and returned as data', async () => {
  await using it = await createToolFixture();
  const tool = createTodoTool();
  const items = [
    { text: 'find the bug', status: 'done' },
    { text: 'mend it', status: 'in_progress' },
    { text: 'add a\ntest' },
    { text: 'ask', status: 'cancelled' },
  ];
  const prepared = await tool.prepare(tool.parameters.parse({ items }), it.context());
  assert.deepEqual(toShown(prepared), {
    kind: 'ready',
    subject: '1 of 3 done',
    preview: '[x] find the bug\n[>] mend it\n[ ] add a\\ntest\n[-] ask',
    approvalLabel: 'todo',
    needsApproval: false,
  });
  assert.deepEqual(await execute(prepared), {
    output: 'The list is stored (1 of 3 done).',
    outcome: 'done',
    todo: [
      { text: 'find the bug', status: 'done' },
      { text: 'mend it', status: 'in_progress' },
      { text: 'add a\\ntest', status: 'pending' },
      { text: 'ask', status: 'cancelled' },
    ],
  });
});

test('an item without a text, with an unknown status or too many items are refused', () => {
  const { parameters } = createTodoTool();
  const isValid = (items: unknown) => parameters.safeParse({ items }).success;
  assert.deepEqual(
    [[], [{ text: '' }], [{ text: 'a', status: 'later' }], Array.from({ length: 101 }, () => ({ text: 'a' }))].map(
      isValid,
    ),
    [true, false, false, false],
  );
});
