import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEffectPhrases } from './effect-words.ts';

test('each kind of effect is one phrase with its targets, and uncertain ones have a question mark', () => {
  assert.deepEqual(
    toEffectPhrases({
      list: [
        { kind: 'read', target: 'a', certain: true },
        { kind: 'read', target: '$X', certain: false },
        { kind: 'network', certain: false },
      ],
      more: 2,
      incomplete: 'unknown_words',
    }),
    [
      { kind: 'read', text: 'Reads: a, perhaps $X' },
      { kind: 'network', text: 'Network' },
      { kind: 'incomplete', text: '2 more' },
      { kind: 'incomplete', text: 'May do more: some arguments are unknown' },
    ],
  );
});

test('unknown effects are shown without “perhaps”', () => {
  const list = [{ kind: 'unknown' as const, target: 'npm test', certain: false }];
  assert.deepEqual(toEffectPhrases({ list }), [{ kind: 'unknown', text: 'Unknown effects: npm test' }]);
});

test('the folder itself does not read as a full stop', () => {
  const list = ['~/.cache', '.'].map((target) => ({ kind: 'write' as const, target, certain: true }));
  assert.deepEqual(toEffectPhrases({ list }), [{ kind: 'write', text: 'Writes: ~/.cache, ./' }]);
});

test('short phrases name only the kinds', () => {
  const list = [{ kind: 'delete' as const, target: 'build', certain: true }];
  assert.deepEqual(toEffectPhrases({ list, incomplete: 'alias' }, { isShort: true }), [
    { kind: 'delete', text: 'Deletes' },
    { kind: 'incomplete', text: 'May do more' },
  ]);
});

test('invisible characters of a target are written as escapes, and long targets show both ends', () => {
  const target = `a\u202e${'x'.repeat(200)}end`;
  const [phrase] = toEffectPhrases({ list: [{ kind: 'write', target, certain: true }] });
  assert.match(phrase?.text ?? '', /^Writes: a\S*202e.*x+end$/i);
  assert.ok((phrase?.text.length ?? 0) < 90);
});
