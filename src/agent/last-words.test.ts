import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastWords } from './last-words.ts';
import type { Message } from './message.ts';

const says = (content: string): Message => ({ role: 'assistant', content, toolCalls: [] });
const asks: Message = { role: 'user', content: 'and?' };

test('the last words of a run are its last text, also before feedback or a steered message, and never those of an earlier run', () => {
  const steered: Message = { ...asks, steered: true };
  const told: Message = { ...asks, environment: {} };
  assert.equal(lastWords([asks, says('early'), asks, says('late'), steered, told, says(' ')]), 'late');
  assert.equal(lastWords([asks, says('before'), { ...asks, feedback: true }, says('')]), 'before');
  assert.equal(lastWords([asks, says('early'), asks, says('')]), '');
  assert.equal(lastWords([]), '');
});
