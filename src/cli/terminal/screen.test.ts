import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTimers } from '../../../protocol/client/testing/fake-timers.ts';
import { FakeTerminal } from './fake-terminal.ts';
import { createLiveScreen, createPlainScreen, type LiveView } from './screen.ts';

function open(size?: { columns: number; rows: number }) {
  const terminal = new FakeTerminal(size);
  const timers = fakeTimers();
  const shown: { view: LiveView } = { view: { lines: [] } };
  const screen = createLiveScreen({ output: terminal, timers, view: () => shown.view });
  const draw = async (view?: LiveView) => {
    if (view) shown.view = view;
    screen.invalidate();
    await timers.advance(50);
    return terminal.look();
  };
  return { terminal, timers, screen, draw };
}

const prompt = (text: string, column = text.length): LiveView['input'] => ({
  rows: [text],
  cursor: { row: 0, column },
});

test('lines are printed above the live view, and the cursor stays in the input', async () => {
  const { screen, draw } = open();
  await draw({ lines: ['thinking'], input: prompt('> hel', 3) });
  screen.print(['first', 'second']);
  assert.deepEqual(await draw({ lines: ['running', 'still'], input: prompt('> hello') }), {
    lines: ['first', 'second', 'running', 'still', '> hello'],
    cursor: { row: 4, column: 7 },
  });
});

test('printing ten thousand lines leaves no remains of the live view', async () => {
  const { screen, draw } = open();
  await draw({ lines: ['live'], input: prompt('> ') });
  const many = Array.from({ length: 10_000 }, (_, line) => `line ${line}`);
  screen.print(many);
  assert.deepEqual((await draw()).lines, [...many, 'live', '>']);
});

test('the live view never grows beyond the screen', async () => {
  const { draw } = open({ columns: 20, rows: 6 });
  const lines = Array.from({ length: 30 }, (_, line) => `row ${line} 日本語日本語日本語`);
  const { lines: seen } = await draw({ lines, input: prompt('> ') });
  assert.equal(seen.length, 5);
  assert.deepEqual((await draw({ lines: [], input: prompt('> ') })).lines, ['>']);
});

test('erased lines disappear, even wrapped ones', async () => {
  const { screen, draw } = open({ columns: 20, rows: 12 });
  screen.print(['kept', 'x'.repeat(45), 'half an answer']);
  await draw({ lines: ['live'], input: prompt('> ') });
  assert.equal(screen.retract(2), true);
  screen.print(['whole']);
  assert.deepEqual((await draw()).lines, ['kept', 'whole', 'live', '>']);
});

test('lines that have scrolled away cannot be erased', async () => {
  const { screen, draw } = open({ columns: 20, rows: 6 });
  screen.print(Array.from({ length: 10 }, (_, line) => `line ${line}`));
  await draw({ lines: [], input: prompt('> ') });
  assert.equal(screen.retract(10), false);
  assert.equal(screen.retract(3), true);
  assert.deepEqual((await draw()).lines, ['line 0', 'line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'line 6', '>']);
});

test('a narrowed terminal shows each line once', async () => {
  const { terminal, screen, draw } = open({ columns: 40, rows: 12 });
  screen.print(['printed']);
  await draw({ lines: ['a live line of some thirty signs'], input: prompt('> typed') });
  terminal.resize(20, 12);
  assert.deepEqual((await draw()).lines, ['printed', 'a live line of some', 'thirty signs', '> typed']);
});

test('a slow terminal gets no further frames until it has caught up', async () => {
  const { terminal, screen, draw } = open();
  terminal.stalled = true;
  await draw({ lines: ['one'] });
  screen.print(['printed']);
  assert.deepEqual((await draw({ lines: ['two'] })).lines, ['one']);
  terminal.stalled = false;
  terminal.emit('drain');
  assert.deepEqual((await draw()).lines, ['printed', 'two']);
});

test('closing leaves only the printed lines', async () => {
  const { terminal, screen, draw } = open();
  await draw({ lines: ['live'], input: prompt('> ') });
  screen.print(['good-bye']);
  screen.close();
  assert.deepEqual(await terminal.look(), { lines: ['good-bye'], cursor: { row: 1, column: 0 } });
});

test('without a terminal, the output is only lines', () => {
  let written = '';
  const screen = createPlainScreen((text) => {
    written += text;
  });
  screen.print(['one', 'two']);
  screen.invalidate();
  assert.deepEqual([written, screen.retract(1)], ['one\ntwo\n', false]);
});

test('a change after a pause and a key are drawn at once, further changes 30 times a second', async () => {
  const { terminal, screen, timers } = open();
  let drawn = 0;
  const { write } = terminal;
  terminal.write = (text) => {
    drawn += 1;
    return write.call(terminal, text);
  };
  screen.invalidate();
  await timers.advance(0);
  screen.invalidate();
  await timers.advance(20);
  assert.equal(drawn, 1);
  screen.hurry();
  await timers.advance(0);
  assert.equal(drawn, 2);
  screen.invalidate();
  await timers.advance(33);
  assert.equal(drawn, 3);
});
