import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../terminal/paint.ts';
import { isAtLeast, toLogLine } from './log-lines.ts';

const paint = createPaint(false);
const line = JSON.stringify({ level: 40, time: 0, msg: 'slow\u001b[31m', wsId: 'w1', tookMs: 900, why: 'a b' });

test('a line has its time, level, message and fields, without control characters', () => {
  assert.equal(toLogLine(line, paint), '1970-01-01 00:00:00 warn  slow wsId=w1 tookMs=900 why="a b"');
});

test('less important lines are left out; a cut line stays as it is', () => {
  assert.deepEqual(
    [isAtLeast(line, 'warn'), isAtLeast(line, 'error'), isAtLeast('{"cut', 'error')],
    [true, false, true],
  );
  assert.equal(toLogLine('{"cut\n', paint), '{"cut ');
});
