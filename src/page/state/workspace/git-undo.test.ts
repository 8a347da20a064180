import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { FileBoard } from './file-board.ts';
import { GitUndo } from './git-undo.ts';

function undoOf(seen?: string) {
  const fake = createFakeClient();
  const { client, answer } = fake;
  const board = new FileBoard({ client, wsId: 'ws' });
  answer('file.changes', () => ({ repositories: [] }));
  answer('file.diff', ({ path }: { path: string }) => ({ path, additions: 1, deletions: 0, diff: 'x', seen }));
  const done = { status: 'ok', kept: [], missing: [], failed: [] };
  answer('file.discard', ({ path }: { path: string }) => ({ ...done, runIds: ['d1'], changed: [path] }));
  answer('checkpoint.undo', ({ path }: { path: string }) => ({ ...done, runIds: ['d1'], changed: [path] }));
  return { ...fake, undo: new GitUndo({ client, wsId: 'ws', board, newKey: () => 'key' }) };
}

test('a file is put back as it was shown, after a question, and brought back', async () => {
  const { undo, calls } = undoOf('s1');
  await undo.ask({ path: 'a.ts', staged: 'modified', unstaged: 'modified' });
  assert.equal(
    undo.asked.value?.words,
    'Put a.ts back as it is in the last commit? Its changes since then are discarded. What is staged stays staged. You can bring back what it is now.',
  );
  await undo.confirm();
  assert.deepEqual([undo.asked.value, undo.done.value], [undefined, 'a.ts is as in the last commit.']);
  await undo.bringBack();
  assert.deepEqual([undo.putBack.value, undo.done.value], [undefined, 'a.ts is as it was.']);
  const made = calls.filter(([method]) => method === 'file.discard' || method === 'checkpoint.undo');
  assert.deepEqual(made, [
    ['file.discard', { wsId: 'ws', path: 'a.ts', seen: 's1', idempotencyKey: 'key' }],
    ['checkpoint.undo', { wsId: 'ws', path: 'a.ts', runId: 'd1', idempotencyKey: 'key' }],
  ]);
});

test('the question says whether a file goes or returns', async () => {
  const { undo } = undoOf('s1');
  const asks = async (file: { staged?: 'added' | 'deleted'; unstaged?: 'untracked' | 'deleted' }) => {
    await undo.ask({ path: 'a.ts', ...file });
    return undo.asked.value?.words.split('?')[0];
  };
  assert.equal(await asks({ unstaged: 'untracked' }), 'Remove a.ts');
  assert.equal(await asks({ staged: 'added' }), 'Remove a.ts');
  assert.equal(await asks({ unstaged: 'deleted' }), 'Bring back a.ts as it is in the last commit');
  undo.keep();
  assert.equal(undo.asked.value, undefined);
});

test('a name that would turn the direction of the question is written out', async () => {
  const { undo } = undoOf('s1');
  await undo.ask({ path: 'a\u202ets.b', unstaged: 'untracked' });
  assert.match(undo.asked.value?.words ?? '', /^Remove a\\u202ets\.b\? /);
  await undo.confirm();
  assert.equal(undo.done.value, 'a\\u202ets.b is as in the last commit.');
});

test('without what was seen nothing can be done, and a refusal is shown', async () => {
  const without = undoOf();
  await without.undo.ask({ path: '.env', unstaged: 'modified' });
  assert.match(without.undo.asked.value?.words ?? '', /^This file cannot be put back here/);
  await without.undo.confirm();
  assert.equal(
    without.calls.some(([method]) => method === 'file.discard'),
    false,
  );
  const late = undoOf('s1');
  late.answer('file.discard', () => {
    throw new Error('a.ts has changed');
  });
  await late.undo.ask({ path: 'a.ts', unstaged: 'modified' });
  await late.undo.confirm();
  assert.deepEqual([late.undo.problem.value, late.undo.putBack.value], ['a.ts has changed', undefined]);
});
