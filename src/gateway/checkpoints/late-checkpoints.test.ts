import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CheckpointFiles } from '../../agent/checkpoints/checkpoint-files.ts';
import { inThisThread } from '../../agent/checkpoints/checkpoint-files.ts';
import { createCheckpointWorker } from '../../agent/checkpoints/checkpoint-work.ts';
import { systemClock } from '../../clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { callerOf, turnsUntil } from '../testing/whole-gateway.ts';
import { checkpointsFixture as open } from './checkpoints-fixture.ts';

test('a run whose folder was away at its end can be taken back once the folder is there again', async (t) => {
  const it = await open(t);
  await it.run('one');
  await it.run('last');
  assert.deepEqual(
    (await it.list()).map(({ state }) => state),
    ['open', 'done'],
  );
  await it.comeBack({ isOther: false });
  await it.gateway.call('checkpoint.undo', { wsId: it.wsId, onConflict: 'overwrite' });
  assert.equal(it.read(), 'one');
});

test('what a person changed before the late snapshot of a run is a conflict, however the run is taken back', async (t) => {
  const it = await open(t);
  await it.run('one');
  await it.run('last');
  await it.comeBack({ isOther: false });
  writeFileSync(it.at('mine.txt'), 'of the person');
  const { wsId } = it;
  const { changes, conflicts } = await it.gateway.call('checkpoint.preview', { wsId, direction: 'undo' });
  assert.deepEqual([changes, conflicts], [[], ['a.txt', 'mine.txt'].map((path) => ({ path, reason: 'unknown' }))]);
  const message =
    'Nothing was changed, because these files may not be as the run left them: a.txt, mine.txt. Choose for them: keep or overwrite.';
  assert.deepEqual(
    [
      await it.gateway.refusal('checkpoint.undo', { wsId }),
      await it.gateway.refusal('workstream.rewind', { wsId, turns: 2, files: true }),
    ],
    [
      { code: 'CONFLICT', message },
      { code: 'CONFLICT', message },
    ],
  );
  await it.gateway.call('checkpoint.undo', {
    wsId,
    onConflict: 'overwrite',
    choices: [{ path: 'mine.txt', choice: 'keep' }],
  });
  assert.deepEqual([it.read(), readFileSync(it.at('mine.txt'), 'utf8')], ['one', 'of the person']);
  await it.gateway.call('checkpoint.redo', { wsId });
  assert.equal(it.read(), 'last');
});

test('a run whose folder was exchanged, or whose snapshots are lost, cannot be taken back, but later ones can', async (t) => {
  for (const isOther of [true, false]) {
    const it = await open(t);
    await it.run('last');
    await it.comeBack({ isOther });
    if (!isOther) {
      rmSync(join(it.gateway.dir, 'checkpoints', it.wsId), { recursive: true });
      await it.gateway.restart();
    }
    await it.run('two');
    await it.run('three');
    assert.deepEqual(
      (await it.list()).map(({ state }) => state),
      ['done', 'done'],
    );
    await it.gateway.call('checkpoint.undo', { wsId: it.wsId });
    assert.equal(it.read(), 'two');
  }
});

test('an undo that a crash interrupted is given up if the folder was exchanged, and later runs can be taken back', async (t) => {
  using dir = tempDir();
  const files = inThisThread(createCheckpointWorker({ folder: dir.path, home: dir.path, now: systemClock.now }));
  let dies = true;
  const checkpointFiles: CheckpointFiles = {
    ...files,
    do: (kind, request) => (kind === 'apply' && dies ? new Promise(() => undefined) : files.do(kind, request)),
  };
  const it = await open(t, {}, { checkpointFiles });
  const { wsId } = it;
  await it.run('one');
  void it.gateway.gateway.dispatch('checkpoint.undo', { wsId }, callerOf());
  await turnsUntil(async () => (await it.list())[0]?.state === 'undone', 'the decision');
  await it.exchange();
  dies = false;
  await it.gateway.crash();
  await it.run('two');
  await it.run('three');
  const { changed } = await it.gateway.call('checkpoint.undo', { wsId });
  assert.deepEqual([changed, it.read()], [['a.txt'], 'two']);
  const told = (await it.gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? event.message : []));
  assert.deepEqual(
    told.map((message) => message.split(':', 1)[0]),
    [
      'A change of files was interrupted and cannot be completed, because a folder is not the same any more, or no longer belongs to the workstream',
      'What the last run changed on disk was taken back',
    ],
  );
});
