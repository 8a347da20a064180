import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findObstacle, labelsIn, toLabelColumn } from './can-own.ts';

const FOLDERS: Record<string, string> = { '/here': '7' };

const owner = (...labels: string[]) => ({
  labels,
  async identify(path: string) {
    const ino = FOLDERS[path];
    if (ino === undefined) throw new Error('there is none');
    return { path, ino };
  },
});

const placed = (labels: readonly string[], workdir = '/here', ino: string | null = '7') => ({
  machine_labels: toLabelColumn(labels),
  workdir,
  workdir_ino: ino,
});

test('a machine can have a workstream if it has all its labels, and may have more', async () => {
  assert.equal(await findObstacle(placed([]), owner()), undefined);
  assert.equal(await findObstacle(placed(['gpu']), owner('eu', 'gpu')), undefined);
  assert.deepEqual(await findObstacle(placed(['eu', 'gpu', 'ssd']), owner('gpu')), {
    reason: 'labels',
    missingLabels: ['eu', 'ssd'],
  });
});

test('a machine cannot have a workstream whose folder it has not, or another one at the same path', async () => {
  assert.deepEqual(await findObstacle(placed([], '/gone'), owner()), { reason: 'folder', workdir: '/gone' });
  assert.deepEqual(await findObstacle(placed([], '/here', '8'), owner()), { reason: 'folder', workdir: '/here' });
  assert.equal(await findObstacle(placed([], '/here', null), owner()), undefined);
});

test('missing labels are named before a missing folder, which the machine with the labels may have', async () => {
  assert.deepEqual(await findObstacle(placed(['gpu'], '/gone'), owner()), { reason: 'labels', missingLabels: ['gpu'] });
});

test('labels are stored in one column, and none as null', () => {
  assert.deepEqual([toLabelColumn([]), labelsIn(null)], [null, []]);
  assert.deepEqual(labelsIn(toLabelColumn(['eu', 'gpu'])), ['eu', 'gpu']);
});
