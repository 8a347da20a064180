import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Banner } from './banners.ts';
import { HiddenBanners } from './hidden-banners.ts';

const information: Banner = { id: 'demo_model0', level: 'info', text: 'A demo answers.', keptAs: 'node demo' };
const warning: Banner = { id: 'sandbox', level: 'warning', text: 'Commands run without a sandbox.' };

function open(stored = new Map<string, string>()) {
  const memory = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  return { stored, hidden: new HiddenBanners(memory) };
}

test('information that was hidden stays hidden after a reload, until it says something else; a warning returns', () => {
  const { hidden, stored } = open();
  hidden.hide(information);
  hidden.hide(warning);
  const other = { ...information, keptAs: 'node other' };
  assert.deepEqual(
    [information, other, warning].map((one) => hidden.has(one)),
    [true, false, true],
  );
  const { hidden: later } = open(stored);
  assert.deepEqual(
    [information, other, warning].map((one) => later.has(one)),
    [true, false, false],
  );
});

test('a hidden warning returns when it says something else', () => {
  const { hidden } = open();
  hidden.hide(warning);
  const other = { ...warning, text: 'Commands run without a sandbox (bubblewrap is not installed).' };
  assert.deepEqual([hidden.has(warning), hidden.has(other)], [true, false]);
});

test('without storage, and with a damaged one, a notice is hidden until the next reload', () => {
  const refuse = () => {
    throw new Error('switched off');
  };
  const hidden = new HiddenBanners({ getItem: refuse, setItem: refuse });
  hidden.hide(information);
  assert.equal(hidden.has(information), true);
  assert.equal(open(new Map([['headgate.hidden-notices', '{"a"']])).hidden.has(information), false);
});
