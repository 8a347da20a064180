import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOver } from './job-over.ts';

const AT = { kind: 'at', atMs: 5 } as const;

test('a one-time job is over when its time is on record', () => {
  assert.equal(isOver({ enabled: false, schedule: AT, state: { lastScheduledAtMs: 5 } }), true);
  assert.equal(isOver({ enabled: false, schedule: AT, state: {} }), false, 'switched off before it');
  assert.equal(isOver({ enabled: true, schedule: AT, state: { lastScheduledAtMs: 5 } }), false, 'tried again');
  const everyMs = { kind: 'every', everyMs: 5 } as const;
  assert.equal(isOver({ enabled: false, schedule: everyMs, state: { lastScheduledAtMs: 5 } }), false);
});
