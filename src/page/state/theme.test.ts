import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThemeChoice } from './theme.ts';

function open(remembered: string | null) {
  const stored = { theme: remembered };
  const applied: string[] = [];
  const theme = new ThemeChoice({
    memory: {
      getItem: () => stored.theme,
      setItem: (_key, value) => {
        stored.theme = value;
      },
    },
    apply: (next) => applied.push(next),
  });
  return { theme, stored, applied };
}

test('the button cycles through the themes, stores the choice and applies it at once', () => {
  const { theme, stored, applied } = open(null);
  assert.equal(theme.current.value, 'auto');
  const seen = [1, 2, 3].map(() => {
    theme.next();
    return [theme.current.value, stored.theme];
  });
  assert.deepEqual(seen, [
    ['light', 'light'],
    ['dark', 'dark'],
    ['auto', 'auto'],
  ]);
  assert.deepEqual(applied, ['light', 'dark', 'auto']);
});

test('a stored theme is used; an unknown stored value is ignored', () => {
  assert.deepEqual([open('dark').theme.current.value, open('pink').theme.current.value], ['dark', 'auto']);
});

test('a choice made in another tab is followed', () => {
  const { theme, stored, applied } = open('light');
  stored.theme = 'dark';
  theme.follow();
  assert.deepEqual([theme.current.value, applied], ['dark', ['dark']]);
});
