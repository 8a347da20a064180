import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { enterRawTerminal } from './raw-terminal.ts';

/** A terminal that records what happens to it, in order. */
function open(filter?: (input: string) => string) {
  const seen: string[] = [];
  let goOn = (): void => undefined;
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => void seen.push(isRaw ? 'raw' : 'plain'),
    resume: () => undefined,
    pause: () => undefined,
  });
  const terminal = enterRawTerminal({
    input: input as unknown as Parameters<typeof enterRawTerminal>[0]['input'], // only these members are used
    write: (text) => void seen.push(JSON.stringify(text)),
    onKey: (text, key) => void seen.push(`key ${text ?? key.name}`),
    onPaste: (text) => void seen.push(`paste ${text}`),
    stopping: {
      job: {
        stop: () => void seen.push('stopped'),
        onContinue(listener) {
          goOn = listener;
          return () => void seen.push('no longer listens');
        },
      },
      onStop: () => void seen.push('cleared'),
      onContinue: () => void seen.push('drawn'),
    },
    filter,
  });
  seen.length = 0;
  return { seen, terminal, type: (text: string) => input.emit('data', Buffer.from(text)), goOn: () => goOn() };
}

const [MARKED, PLAIN] = ['"\\u001b[?2004h"', '"\\u001b[?2004l"'];

test('Ctrl-Z gives the terminal back before the job stops, and takes it again when it goes on', () => {
  const { seen, type } = open();
  type('a\x1ab');
  assert.deepEqual(seen, ['key a', 'cleared', PLAIN, 'plain', 'stopped', 'plain', 'raw', MARKED, 'drawn', 'key b']);
});

test('a job that another program has stopped takes the terminal again, too', () => {
  const { seen, goOn, terminal } = open();
  goOn();
  assert.deepEqual(seen, ['plain', 'raw', MARKED, 'drawn']);
  seen.length = 0;
  terminal.leave();
  terminal.leave();
  assert.deepEqual(seen, ['no longer listens', 'plain', PLAIN]);
});

test('a paste arrives in one piece, also with Ctrl-Z in it and with a character that was cut in two', () => {
  const { seen, type } = open((input) => input.replaceAll('ANSWER', ''));
  type('\x1b[200~one\rtwoANSWER\x1a\x1b[201~');
  assert.deepEqual(seen, ['paste one\rtwo\x1a']);
});
