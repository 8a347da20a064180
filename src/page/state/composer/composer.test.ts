import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dictation, type Recognition, withSpoken } from './dictation.ts';
import { toPastedFile } from './long-paste.ts';
import { isAtEdge, MessageHistory } from './message-history.ts';

test('arrow keys go through earlier messages and back to the empty field', () => {
  const asked = ['one', 'two', 'two', '', 'three'];
  const history = new MessageHistory();
  const seen: (string | undefined)[] = [];
  let draft = '';
  for (const by of [1, -1, -1, -1, -1, 1, 1, 1, 1] as const) {
    const text = history.step(draft, asked, by);
    seen.push(text);
    draft = text ?? draft;
  }
  assert.deepEqual(seen, [undefined, 'three', 'two', 'one', undefined, 'two', 'three', '', undefined]);
});

test('a text of the person is not replaced, even if it began as an earlier message', () => {
  const history = new MessageHistory();
  assert.equal(history.step('my words', ['one'], -1), undefined);
  assert.equal(history.step('', ['one', 'two'], -1), 'two');
  assert.equal(history.step('two, changed', ['one', 'two'], -1), undefined);
  assert.equal(history.step('', [], -1), undefined);
});

test('in a text of several lines, an arrow key moves the cursor first', () => {
  const at = (place: number, by: -1 | 1, end = place) =>
    isAtEdge({ value: 'first\nlast', selectionStart: place, selectionEnd: end }, by);
  assert.deepEqual(
    [at(0, -1), at(5, -1), at(6, -1), at(6, 1), at(5, 1), at(0, -1, 3)],
    [true, true, false, true, false, false],
  );
});

test('a long text becomes a file with a name of its own, a short one stays in the message', async () => {
  const long = 'x\n'.repeat(3_001);
  assert.equal(toPastedFile('x'.repeat(6_000), []), undefined);
  const [first, second] = [toPastedFile(long, ['a.txt']), toPastedFile(long, ['pasted-text.txt'])];
  assert.deepEqual([first?.name, second?.name, await first?.text()], ['pasted-text.txt', 'pasted-text-2.txt', long]);
});

function openDictation() {
  const heard: string[] = [];
  const calls: string[] = [];
  const recognition: Recognition = {
    ...{ continuous: false, interimResults: true, lang: '', onresult: null, onerror: null, onend: null },
    start: () => void calls.push('start'),
    stop: () => void calls.push('stop'),
    abort: () => void calls.push('abort'),
  };
  const dictation = new Dictation({
    create: () => recognition,
    language: 'en-GB',
    onText: (text) => void heard.push(text),
    onProblem: (problem) => void heard.push(problem),
  });
  const say = (resultIndex: number, ...texts: [string, boolean][]) =>
    recognition.onresult?.({
      resultIndex,
      results: texts.map(([transcript, isFinal]) => Object.assign([{ transcript }], { isFinal })),
    });
  return { dictation, recognition, heard, calls, say };
}

test('dictated text arrives once, in the language of the browser, until it is stopped', () => {
  const { dictation, recognition, heard, calls, say } = openDictation();
  dictation.toggle();
  say(0, ['hello ', true], ['wor', false]);
  say(1, ['hello ', true], [' world', true]);
  assert.deepEqual([heard, recognition.lang, dictation.isOn.value], [['hello', 'world'], 'en-GB', true]);
  dictation.toggle();
  recognition.onend?.();
  assert.deepEqual([calls, dictation.isOn.value], [['start', 'stop'], false]);
  assert.equal(withSpoken(withSpoken('', 'hello'), 'world'), 'hello world');
});

test('a refused microphone is told, silence is not, and a field that is gone hears nothing', () => {
  const { dictation, recognition, heard, calls, say } = openDictation();
  dictation.toggle();
  recognition.onerror?.({ error: 'no-speech' });
  recognition.onerror?.({ error: 'not-allowed' });
  assert.deepEqual(heard, ['The browser does not allow the page to use the microphone.']);
  dictation.dispose();
  say(0, ['late', true]);
  assert.deepEqual([heard.length, calls, dictation.isOn.value], [1, ['start', 'abort'], false]);
});
