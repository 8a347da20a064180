import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findShortcut, keysOf } from './shortcuts.ts';

const press = (code: string, more: object = {}) => ({
  code,
  key: code,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  ...more,
});

const typing = { isTyping: true, isMac: false };
const reading = { isTyping: false, isMac: false };

test('a shortcut also works while typing, but only with its modifier', () => {
  const pressed = [
    press('KeyY', { altKey: true }),
    press('KeyK', { ctrlKey: true }),
    press('KeyK', { metaKey: true }),
    press('KeyY'),
    press('KeyY', { ctrlKey: true }),
    press('KeyY', { altKey: true, ctrlKey: true }),
    press('KeyY', { altKey: true, shiftKey: true }),
  ];
  assert.deepEqual(
    pressed.map((each) => findShortcut(each, typing)),
    ['approve', 'saved', undefined, undefined, undefined, undefined, undefined],
  );
});

test('key repeat and keys that compose a letter decide nothing', () => {
  assert.equal(findShortcut(press('KeyY', { altKey: true, repeat: true }), reading), undefined);
  assert.equal(findShortcut(press('KeyY', { altKey: true, isComposing: true }), reading), undefined);
});

test('a question mark opens the list of shortcuts, except while typing', () => {
  const mark = press('Slash', { key: '?', shiftKey: true });
  assert.deepEqual([findShortcut(mark, reading), findShortcut(mark, typing)], ['help', undefined]);
});

test('keys are named as on the keyboard', () => {
  assert.deepEqual(
    [
      keysOf('approve', false),
      keysOf('approve', true),
      keysOf('saved', true),
      keysOf('next', false),
      keysOf('help', true),
    ],
    [['Alt', 'Y'], ['⌥', 'Y'], ['⌘', 'K'], ['Alt', '↓'], ['?']],
  );
});

test('on a Mac, Command replaces Control, which edits text there', () => {
  const mac = { isTyping: true, isMac: true };
  assert.deepEqual(
    [findShortcut(press('KeyK', { metaKey: true }), mac), findShortcut(press('KeyK', { ctrlKey: true }), mac)],
    ['saved', undefined],
  );
});
