import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTimers } from '../../../protocol/client/testing/fake-timers.ts';
import { followLog } from './follow-log.ts';

test('lines are read after the last cursor; a new start of the daemon and missing lines are told', async () => {
  const timers = fakeTimers();
  const answers = [
    { file: '', size: 0, cursor: 'a:2', lines: ['one', 'two'] },
    { file: '', size: 0, cursor: 'b:9', lines: ['three'], reset: true, truncated: true },
  ];
  const asked: string[] = [];
  const seen: string[] = [];
  const end = followLog('a:0', {
    timers,
    async read(cursor) {
      asked.push(cursor);
      const next = answers.shift();
      if (next === undefined) throw new Error('gone');
      return next;
    },
    print: (lines) => void seen.push(...lines),
    tell: (line) => void seen.push(`(${line})`),
  });
  const ended = assert.rejects(end, { message: 'gone' });
  await timers.advance(2_000);
  await ended;
  assert.deepEqual(asked, ['a:0', 'a:2', 'b:9']);
  assert.deepEqual(seen, [
    'one',
    'two',
    '(The daemon was started again.)',
    '(Some lines are missing: there were too many at once.)',
    'three',
  ]);
});
