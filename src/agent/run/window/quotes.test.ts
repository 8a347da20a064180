import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { findRules, newestLines } from './quotes.ts';

const user = (content: string): Message => ({ role: 'user', content });

test('sentences that give rules are found word for word, each one once', () => {
  const messages: Message[] = [
    user('Hi! Please look at a.ts. Never touch b.ts.\nAlways run the tests, please.'),
    { role: 'assistant', content: 'I must look.', toolCalls: [] },
    user('Never touch b.ts. Antworte ab jetzt auf Deutsch!'),
  ];
  assert.deepEqual(findRules(messages, 1_000), [
    'Please look at a.ts.',
    'Never touch b.ts.',
    'Always run the tests, please.',
    'Antworte ab jetzt auf Deutsch!',
  ]);
});

test('the rules of an earlier summary are taken over, and its text is not searched', () => {
  const summary: Message = {
    ...{ role: 'user', content: 'You must not see this.', summary: { rules: ['Use tabs always.'], files: [] } },
  };
  assert.deepEqual(findRules([summary, user('Do not use npm.')], 1_000), ['Use tabs always.', 'Do not use npm.']);
});

test('clear rules stay before wishes, also those of earlier summaries', () => {
  const summary: Message = {
    ...{ role: 'user', content: '', summary: { rules: ['Never push.', 'Please be kind.'], files: [] } },
  };
  const messages = [summary, user('Answer in French. Use spaces. So it is.')];
  assert.deepEqual(findRules(messages, 1_000), ['Never push.', 'Please be kind.', 'Answer in French.', 'Use spaces.']);
  assert.deepEqual(findRules(messages, 50), ['Never push.', 'Answer in French.', 'Use spaces.']);
  assert.deepEqual(findRules(messages, 20), ['Never push.']);
});

test('pasted texts are no rules', () => {
  assert.deepEqual(findRules([user(`never ${'x'.repeat(600)}`)], 1_000), []);
});

test('the newest lines that fit are kept in their order', () => {
  assert.deepEqual(newestLines(['a', 'bb', 'ccc'], 11), ['bb', 'ccc']);
  assert.deepEqual(newestLines(['a', 'bb'], 100), ['a', 'bb']);
  assert.deepEqual(newestLines(['long line'], 3), []);
});
