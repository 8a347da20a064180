import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelName, problemWords, stateAdvice, stateOf } from './channel-words.ts';

test('the states of every channel have words, also those that this page does not know', () => {
  const states = ['off', 'connecting', 'polling', 'ready', 'conflict', 'error', 'resting\u202e'];
  assert.deepEqual(
    states.map((state) => Object.values(stateOf({ state }))),
    [
      ['not set up', 'none'],
      ['connecting', 'waiting'],
      ['connected', 'good'],
      ['connected', 'good'],
      ['conflict', 'bad'],
      ['error', 'bad'],
      ['resting\\u202e', 'waiting'],
    ],
  );
  assert.deepEqual(['telegram', 'whatsapp', 'pigeon'].map(channelName), ['Telegram', 'WhatsApp', 'pigeon']);
});

test('a person is told whether Headgate tries again', () => {
  const advice = [
    stateAdvice({ state: 'connecting' }),
    stateAdvice({ state: 'connecting', why: 'no answer' }),
    stateAdvice({ state: 'error', why: 'wrong token' }),
    stateAdvice({ state: 'polling' }),
  ];
  assert.deepEqual(advice, [
    undefined,
    'Headgate tries again by itself.',
    'Headgate does not try again until the settings change.',
    undefined,
  ]);
});

test('parts that did not arrive for sure are counted with what to do', () => {
  const parts = (...states: ('accepted' | 'ambiguous' | 'failed' | 'sending')[]) => states.map((state) => ({ state }));
  assert.equal(problemWords(parts('accepted', 'sending')), undefined);
  assert.equal(problemWords(parts('failed', 'accepted', 'failed')), '2 parts failed.');
  assert.equal(
    problemWords(parts('failed', 'ambiguous')),
    '1 part may have arrived: look into the chat before you send the message again. 1 part failed.',
  );
});
