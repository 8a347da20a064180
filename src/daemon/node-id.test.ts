import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { nodeIdOf } from './node-id.ts';

test('the node id is the host name and four hex digits of the real home folder', async (t) => {
  const one = await mkdtemp(path.join(tmpdir(), 'headgate-node-'));
  const other = await mkdtemp(path.join(tmpdir(), 'headgate-node-'));
  const link = path.join(other, 'link');
  await symlink(one, link);
  t.after(() => Promise.all([one, other].map((folder) => rm(folder, { recursive: true }))));
  const id = nodeIdOf(one, 'attic');
  assert.match(id, /^attic_[0-9a-f]{4}$/);
  assert.deepEqual([nodeIdOf(one, 'attic'), nodeIdOf(link, 'attic')], [id, id]);
  assert.match(nodeIdOf(other, ''), /^headgate_[0-9a-f]{4}$/);
});
