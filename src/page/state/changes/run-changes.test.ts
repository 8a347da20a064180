import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { RunChanges } from './run-changes.ts';

const checkpoint = (runId: string, state: 'open' | 'done' | 'undone') => ({
  ...{ runId, afterSeq: 1, state, beganMs: 1, files: 1, leftOut: 0, folders: ['/work'], unavailable: [] },
});
const DONE = { status: 'ok', runIds: ['run_1'], changed: ['a'], kept: [], missing: [], failed: [] };
const CONFLICT = { path: 'b', reason: 'changed' } as const;

function open() {
  const fake = createFakeClient();
  let preview = {
    runIds: ['run_1'],
    changes: [{ path: 'a', change: 'deleted' }],
    conflicts: [] as object[],
    missing: [],
  };
  fake.answer('checkpoint.list', () => ({
    enabled: true,
    checkpoints: [checkpoint('run_2', 'open'), checkpoint('run_1', 'done')],
  }));
  fake.answer('checkpoint.diff', ({ runId }: { runId: string }) => ({
    checkpoint: checkpoint(runId, 'done'),
    files: [],
    leftOut: [],
  }));
  fake.answer('checkpoint.preview', () => preview);
  fake.answer('checkpoint.undo', () => DONE);
  let keys = 0;
  const changes = new RunChanges({ client: fake.client, wsId: 'ws', newKey: () => `key-${++keys}` });
  return Object.assign(fake, {
    changes,
    conflict: () => {
      preview = { ...preview, conflicts: [CONFLICT] };
    },
  });
}

test('the last run that has ended is shown, and an undo is asked about before it happens', async () => {
  const { changes, calls } = open();
  await changes.show();
  assert.equal(changes.compared.value?.checkpoint.runId, 'run_1');
  await changes.ask('undo');
  assert.deepEqual(changes.asked.value?.preview.changes, [{ path: 'a', change: 'deleted' }]);
  await changes.confirm(new Map([['b', 'keep']]));
  const sent = calls.find(([method]) => method === 'checkpoint.undo')?.[1];
  const choices = [{ path: 'b', choice: 'keep' }];
  assert.deepEqual(sent, { wsId: 'ws', runId: 'run_1', choices, idempotencyKey: 'key-1' });
  assert.deepEqual([changes.asked.value, changes.done.value], [undefined, '1 file was changed.']);
});

test('files that change while the question is open are asked about again', async () => {
  const { changes, answer, conflict } = open();
  await changes.ask('undo');
  answer('checkpoint.undo', () => {
    throw new RequestError('CONFLICT', 'Nothing was changed');
  });
  conflict();
  await changes.confirm(new Map());
  assert.deepEqual(changes.asked.value?.preview.conflicts, [CONFLICT]);
  assert.equal(changes.problem.value, 'Nothing was changed');
  changes.keep();
  assert.equal(changes.asked.value, undefined);
});

test('a file is taken back and brought back alone; a refusal is told, and another run begins anew', async () => {
  const { changes, calls, answer } = open();
  await changes.show();
  answer('checkpoint.redo', () => ({ ...DONE, changed: [] }));
  await changes.changeFile('undo', 'a');
  assert.deepEqual([[...changes.takenBack.value], changes.done.value], [['a'], '1 file was changed.']);
  assert.deepEqual(calls.at(-1)?.[1], { wsId: 'ws', runId: 'run_1', path: 'a', idempotencyKey: 'key-1' });
  await changes.changeFile('redo', 'a');
  assert.deepEqual([changes.takenBack.value.size, changes.done.value], [0, 'No file had to be changed.']);
  await changes.changeFile('undo', 'a');
  answer('checkpoint.undo', () => {
    throw new RequestError('CONFLICT', 'Nothing was changed');
  });
  await changes.changeFile('undo', 'b');
  assert.deepEqual([[...changes.takenBack.value], changes.problem.value], [['a'], 'Nothing was changed']);
  await changes.show('run_0');
  assert.equal(changes.takenBack.value.size, 0);
});

test('the question that was asked for last stays, also if an earlier answer comes later', async () => {
  const { changes, answer } = open();
  const early = Promise.withResolvers<object>();
  const preview = (runId: string) => ({ runIds: [runId], changes: [], conflicts: [], missing: [] });
  answer('checkpoint.preview', ({ direction }: { direction: string }) =>
    direction === 'undo' ? early.promise : preview('redone'),
  );
  const first = changes.ask('undo');
  await changes.ask('redo');
  early.resolve(preview('undone'));
  await first;
  assert.deepEqual([changes.asked.value?.direction, changes.asked.value?.preview.runIds], ['redo', ['redone']]);
});
