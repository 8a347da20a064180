import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Appearance } from './appearance.ts';

function open(remembered: Record<string, string> = {}) {
  const stored = new Map(Object.entries(remembered));
  const applied: string[] = [];
  const system = { asksForContrast: false };
  const appearance = new Appearance({
    memory: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
    },
    asksForContrast: () => system.asksForContrast,
    apply: (aspect, value) => applied.push(`${aspect}=${value}`),
  });
  return { appearance, stored, applied, system };
}

test('the button cycles through the themes, stores the choice and applies it at once', () => {
  const { appearance, stored, applied } = open();
  assert.equal(appearance.theme.current.value, 'auto');
  const seen = [1, 2, 3].map(() => {
    appearance.theme.next();
    return [appearance.theme.current.value, stored.get('headgate.theme')];
  });
  assert.deepEqual(seen, [
    ['light', 'light'],
    ['dark', 'dark'],
    ['auto', 'auto'],
  ]);
  assert.deepEqual(applied, ['theme=light', 'theme=dark', 'theme=auto']);
});

test('stored choices are used; unknown stored values and unknown choices are ignored', () => {
  const { appearance, applied } = open({ 'headgate.theme': 'dark', 'headgate.density': 'pink' });
  appearance.density.choose('huge');
  assert.deepEqual(
    [appearance.theme.current.value, appearance.density.current.value, applied],
    ['dark', 'comfortable', []],
  );
});

test('choices made in another tab are followed', () => {
  const { appearance, stored, applied } = open({ 'headgate.theme': 'light' });
  stored.set('headgate.theme', 'dark').set('headgate.density', 'compact');
  appearance.follow();
  assert.deepEqual([appearance.theme.current.value, appearance.density.current.value], ['dark', 'compact']);
  assert.deepEqual(applied, ['theme=dark', 'contrast=auto', 'density=compact']);
});

test('contrast is high when the system asks for it or the person does, and the person may refuse it', () => {
  const { appearance, applied, system } = open();
  system.asksForContrast = true;
  appearance.contrast.follow();
  appearance.contrast.choose('normal');
  system.asksForContrast = false;
  appearance.contrast.choose('more');
  appearance.contrast.choose('auto');
  assert.deepEqual(applied, ['contrast=more', 'contrast=normal', 'contrast=more', 'contrast=auto']);
});
