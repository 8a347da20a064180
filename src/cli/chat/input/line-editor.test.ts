import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineEditor } from './line-editor.ts';

function open(history: string[] = []) {
  const kept: (readonly string[])[] = [];
  const editor = createLineEditor({
    history,
    complete: (line) => ['/help', '/history'].filter((word) => word.startsWith(line)),
    onHistory: (lines) => kept.push(lines),
  });
  return { editor, kept };
}

test('keys edit a draft of several lines', () => {
  const { editor } = open();
  editor.insert('one\ntwo');
  editor.press(undefined, { name: 'left' });
  editor.press('x', { name: 'x', sequence: 'x' });
  editor.press(undefined, { name: 'home' });
  editor.press('>', { sequence: '>' });
  assert.deepEqual([editor.text, editor.cursor], ['>one\ntwxo', 1]);
  editor.close();
});

test('a sent draft becomes history with all its lines', () => {
  const { editor, kept } = open(['older']);
  editor.insert('a\nb');
  assert.equal(editor.take(), 'a\nb');
  assert.deepEqual([editor.text, kept], ['', [['a\nb', 'older']]]);
  editor.press(undefined, { name: 'up' });
  assert.equal(editor.text, 'a\nb');
  editor.close();
});

test('Tab completes a word that has only one completion', async () => {
  const { editor } = open();
  editor.insert('/he');
  editor.press('\t', { name: 'tab' });
  await new Promise(setImmediate);
  assert.equal(editor.text, '/help');
  editor.close();
});
