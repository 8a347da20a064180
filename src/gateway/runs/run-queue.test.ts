import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunQueue } from './run-queue.ts';
import type { RunRecord } from './run-record.ts';

const runNamed = (runId: string): RunRecord => ({
  ...{ runId, wsId: 'ws', principal: 'operator', source: 'person', epoch: 0, acceptedMs: 1 },
  request: { message: runId, rights: 'approve' },
});

test('readers see what is stored: a run after its acceptance, and until its departure', () => {
  const told: string[][] = [];
  const queue = new RunQueue((changed) => told.push(changed.stored().map(({ run }) => run.runId)));
  const one = queue.add(runNamed('one'), { isStored: true });
  const two = queue.add(runNamed('two'), { isStored: false });
  const seen = () => queue.stored().map(({ run }) => run.runId);
  const steps = [seen()];
  queue.accepted(two);
  queue.leave(one);
  steps.push(seen());
  queue.putBack(one);
  steps.push(seen());
  queue.leave(one);
  queue.left(one);
  steps.push(seen());
  assert.deepEqual(steps, [['one'], ['one', 'two'], ['one', 'two'], ['two']]);
  assert.deepEqual(told, [['one'], ['one'], ['one', 'two'], ['one', 'two'], ['two']]);
  assert.deepEqual([queue.length, queue.first?.run.runId], [1, 'two']);
});

test('a run whose acceptance failed while it was being started does not come back', () => {
  const queue = new RunQueue(() => undefined);
  const item = queue.add(runNamed('one'), { isStored: false });
  queue.leave(item);
  queue.refused(item);
  queue.putBack(item);
  assert.deepEqual([queue.all(), queue.stored()], [[], []]);
});
