import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JoinedText, JoinedTexts } from './joined-texts.ts';

test('without texts it is empty, also after the last one was removed', () => {
  const joined = new JoinedTexts();
  assert.equal(joined.bytes().toString(), '');
  joined.remove(joined.add('a'));
  assert.equal(joined.bytes().toString(), '');
});

test('equal texts are told apart', () => {
  const joined = new JoinedTexts();
  const first = joined.add('a');
  joined.add('b');
  joined.add('a');
  joined.remove(first);
  assert.equal(joined.bytes().toString(), 'a,b');
});

test('any additions and removals give the same as joining what is left', () => {
  const step = fc.oneof(fc.nat({ max: 3_000 }), fc.record({ remove: fc.nat() }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const joined = new JoinedTexts();
      const left: JoinedText[] = [];
      for (const [n, one] of steps.entries()) {
        if (typeof one === 'number') left.unshift(joined.add(String(n % 10).repeat(one)));
        else for (const removed of left.splice(one.remove % (left.length + 1), 1)) joined.remove(removed);
        assert.equal(joined.bytes().toString(), left.map(({ text }) => text).join());
      }
    }),
  );
});

test('removing a text twice removes nothing else', () => {
  const joined = new JoinedTexts();
  const first = joined.add('a');
  joined.add('b');
  joined.remove(first);
  joined.remove(first);
  assert.equal(joined.bytes().toString(), 'b');
});
