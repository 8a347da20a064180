import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidWords } from './said-words.ts';

test('what a service says becomes one short line that hides nothing', () => {
  assert.deepEqual(
    ['Bad Request: chat not found', 'a\nb\u202ec\u001b[2J', { toString: 1 }, undefined].map((words) =>
      saidWords(words, (text) => text.replace('chat', '[chat]')),
    ),
    ['Bad Request: [chat] not found', 'a\\nb\\u202ec\\u001b[2J', '', ''],
  );
  assert.equal(saidWords('x'.repeat(16_000_000), String).length, 301);
});
