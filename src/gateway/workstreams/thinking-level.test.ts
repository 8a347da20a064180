import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effortOfLevel, toThinkingLevel, toVerboseLevel } from './thinking-level.ts';

test('levels have synonyms, ignoring case, and an effort', () => {
  assert.deepEqual([' Ultra ', 'MED', 'think', 'off'].map(toThinkingLevel), ['high', 'medium', 'minimal', 'off']);
  assert.deepEqual(['off', 'minimal', 'low', 'medium', 'high'].map(effortOfLevel), [
    'low',
    'low',
    'low',
    'medium',
    'high',
  ]);
  assert.deepEqual(['Full', '0'].map(toVerboseLevel), ['on', 'off']);
});

test('an unknown level is refused with the known ones', () => {
  for (const word of ['', 'extreme', 'constructor']) {
    assert.throws(() => toThinkingLevel(word), { message: 'invalid thinkingLevel (use off|minimal|low|medium|high)' });
    assert.throws(() => toVerboseLevel(word), { message: 'invalid verboseLevel (use "on"|"off")' });
  }
});
