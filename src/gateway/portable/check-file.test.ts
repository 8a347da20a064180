import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import { checkFile } from './check-file.ts';

type Call = [id: string, name: string];

/** A question, an answer with these calls, and results in the given order. */
const turn = (calls: readonly Call[], results: readonly Call[]): FileMessage[] => [
  { role: 'user', createdMs: 1, content: 'a' },
  { role: 'assistant', createdMs: 1, content: '', toolCalls: calls.map(([id, name]) => ({ id, name, arguments: '' })) },
  ...results.map(([callId, name]): FileMessage => {
    return { role: 'tool', createdMs: 1, callId, name, output: '', outcome: 'done' };
  }),
];

const fileOf = (messages: FileMessage[]) => ({
  ...{ format: 'headgate-conversation' as const, version: 1 as const },
  ...{ messages, notes: [], files: [] },
});

test('results may come in any order, also of calls with the same id', () => {
  const calls: Call[] = [
    ['x', 'bash'],
    ['x', 'read_file'],
    ['x', 'bash'],
    ['y', 'bash'],
  ];
  checkFile(fileOf(turn(calls, calls.toReversed())));
  const refused = (results: Call[], message: RegExp) =>
    assert.throws(() => checkFile(fileOf(turn(calls, results))), { message });
  refused(calls.slice(0, 3), /^messages: the result of call "y" is missing$/);
  refused([...calls, ['x', 'bash']], /^messages\.6\.callId: no call before it has this id and no result yet$/);
  refused([['y', 'read_file']], /^messages\.2\.name: the call was of "bash"$/);
  refused(
    [
      ['x', 'read_file'],
      ['x', 'read_file'],
    ],
    /^messages\.3\.name: the call was of "bash"$/,
  );
});

/** Searching lists for the pairs took half a minute, and nothing else went on meanwhile. */
test('answers with thousands of calls are checked', () => {
  const calls = Array.from({ length: 19_900 }, (_, index): Call => [`call_${index}`, 'bash']);
  const messages = turn(calls, calls.toReversed());
  const agent = { callId: 'call_0', title: 'a', outcome: 'done' as const, turns: 1, toolCalls: 1, tokens: 1 };
  const agents = Array.from({ length: 10 }, () => ({ ...agent, startedMs: 1, endedMs: 1, messages }));
  checkFile({ ...fileOf(messages), agents });
});
