import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeOf, usualTokensOf } from './call-size.ts';

test('what a call may use at most covers texts whose characters are tokens of their own', () => {
  const content = '漢'.repeat(1_000);
  const { most, expected } = sizeOf([{ role: 'user', content }], { maxOutputTokens: 10 }, 0);
  assert.ok(most.promptTokens >= 1_500, String(most.promptTokens));
  assert.ok(expected.promptTokens < most.promptTokens);
  assert.ok(usualTokensOf({ role: 'assistant', content, toolCalls: [] }) >= 750);
});
