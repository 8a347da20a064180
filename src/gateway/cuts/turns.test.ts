import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Message } from '../../agent/message.ts';
import type { StoredMessage } from '../history/messages.ts';
import { joinTurns, type Turn, toTurns } from './turns.ts';

const message: fc.Arbitrary<Message> = fc.constantFrom<Message[]>(
  { role: 'user', content: 'asked' },
  { role: 'user', content: 'steered', steered: true },
  { role: 'user', content: 'feedback', feedback: true },
  { role: 'assistant', content: 'answered', toolCalls: [] },
);

const conversation = fc
  .array(fc.tuple(message, fc.constantFrom('run_1', 'run_2', undefined)), { maxLength: 30 })
  .map((messages) =>
    messages.map(
      ([one, runId], index): StoredMessage => ({
        seq: index + 1,
        createdMs: 1,
        message: one,
        ...(runId !== undefined && { runId }),
      }),
    ),
  );

test('turns that are read backwards in pages are those of the whole conversation', () => {
  fc.assert(
    fc.property(conversation, fc.integer({ min: 1, max: 7 }), (messages, size) => {
      const whole = toTurns(messages);
      let turns: Turn[] = [];
      for (let end = messages.length; end > 0; end -= size) {
        turns = joinTurns(messages.slice(Math.max(0, end - size), end), turns);
        if (end > size) assert.deepEqual(turns.slice(1), whole.slice(whole.length - turns.length + 1));
      }
      assert.deepEqual(turns, whole);
    }),
  );
});
