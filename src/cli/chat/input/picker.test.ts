import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../../terminal/paint.ts';
import { createPicker } from './picker.ts';

const choices = ['scripted/fast', 'scripted/slow', 'other/thorough', 'git commit -m "x"'].map((label) => ({
  value: label,
  label,
  detail: '',
}));
const paint = createPaint(false);

function open() {
  const picker = createPicker({ title: 'Choose', choices });
  const press = (name: string, ctrl = false) => picker.press(undefined, { name, ctrl });
  const type = (text: string) => {
    for (const sign of text) picker.press(sign, { sequence: sign });
  };
  return { picker, press, type, rows: (most = 9) => picker.lines(paint, most) };
}

test('letters that occur in this order find a choice, and Enter picks it', () => {
  const { type, press, rows } = open();
  type('othor');
  assert.deepEqual(rows(), ['▸ other/thorough']);
  assert.deepEqual(press('return'), { kind: 'picked', choice: choices[2] });
});

test('the arrows move the selection within the list, and the rows follow it', () => {
  const { press, rows } = open();
  press('up');
  assert.deepEqual(rows(2), ['▸ scripted/fast', '  scripted/slow']);
  for (const _ of choices) press('down');
  press('down');
  assert.deepEqual(rows(2), ['  other/thorough', '▸ git commit -m "x"']);
});

test('nothing is picked when nothing matches; backspace and Ctrl-U bring choices back', () => {
  const { type, press, rows } = open();
  type('fasty');
  assert.deepEqual([rows(), press('return')], [['  (nothing matches)'], { kind: 'open' }]);
  press('backspace');
  assert.deepEqual(rows(), ['▸ scripted/fast']);
  press('u', true);
  assert.equal(rows().length, choices.length);
});

for (const [name, ctrl] of [
  ['escape', false],
  ['c', true],
] as const)
  test(`${ctrl ? 'Ctrl-' : ''}${name} leaves without a choice`, () => {
    assert.deepEqual(open().press(name, ctrl), { kind: 'left' });
  });

test('a choice of several lines is one row, without control characters', () => {
  const picker = createPicker({ title: '', choices: [{ value: 'v', label: 'one\n  two\u001b[31m', detail: '' }] });
  assert.deepEqual(picker.lines(paint, 3), ['▸ one ⏎ two']);
});
