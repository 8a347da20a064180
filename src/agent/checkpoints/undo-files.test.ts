import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { test } from 'node:test';
import { changedIn, checkpointFixture } from './checkpoint-fixture.ts';
import { lookAt } from './look.ts';

test('an undo restores contents, permissions, links, folders and names that are no UTF-8, byte by byte', () => {
  using it = checkpointFixture();
  it.write('a.txt', 'one\r\n');
  it.write('bin/run.sh', '#!/bin/sh\n');
  chmodSync(it.at('bin/run.sh'), 0o750);
  it.write('.env', 'KEY=1');
  chmodSync(it.at('.env'), 0o600);
  symlinkSync('../outside', it.at('link'));
  const odd = Buffer.concat([Buffer.from(`${it.root}/`), Buffer.from([0xff, 0x41])]);
  writeFileSync(odd, 'odd');
  it.write('deep/er/x', 'x');
  it.write('data', Buffer.from([0, 1, 2, 255]));
  const before = it.snap();
  it.write('a.txt', 'two');
  rmSync(it.at('bin'), { recursive: true });
  it.write('bin', 'a file now');
  rmSync(it.at('.env'));
  rmSync(it.at('link'));
  it.write('link', 'no link');
  rmSync(odd);
  rmSync(it.at('deep'), { recursive: true });
  it.write('new/folder/file', 'new');
  chmodSync(it.at('data'), 0o755);
  const after = it.snap(before);
  const done = it.change(after, before);
  assert.deepEqual([done.failed, it.snap()], [[], before]);
  assert.deepEqual(
    [it.read('a.txt'), it.read('bin/run.sh'), readlinkSync(it.at('link')), readFileSync(odd, 'utf8')],
    ['one\r\n', '#!/bin/sh\n', '../outside', 'odd'],
  );
  assert.deepEqual(
    ['bin/run.sh', '.env'].map((path) => statSync(it.at(path)).mode & 0o777),
    [0o750, 0o600],
  );
  assert.equal(existsSync(it.at('new')), false, 'emptied folders go');
  assert.ok(changedIn(done).includes('\\xffA'));
  assert.deepEqual([it.change(before, after).failed, it.snap()], [[], after], 'and a redo brings it back');
});

test('what Git ignores, repositories and special files are not in a snapshot, and an undo does not touch them', () => {
  using it = checkpointFixture();
  it.write('.gitignore', 'dist/\n*.log\n!keep.log\n');
  it.write('sub/.gitignore', '/only-here\n');
  it.write('.git/HEAD', 'ref');
  it.write('inner/.git/HEAD', 'ref');
  it.write('inner/code', 'code');
  it.write('module/.git', 'gitdir: elsewhere');
  for (const path of ['dist/a', 'x.log', 'sub/y.log', 'sub/only-here']) it.write(path, 'ignored');
  for (const path of ['keep.log', 'only-here', 'sub/z']) it.write(path, 'kept');
  mkdirSync(it.at('empty'));
  const before = it.snap();
  const held = it.worker().compare({ wsId: 'ws', paths: [it.root], trees: [[undefined, before]], maxBytes: 0 });
  assert.deepEqual(
    held.map(({ shown }) => shown),
    ['.gitignore', 'inner/code', 'keep.log', 'only-here', 'sub/.gitignore', 'sub/z'],
  );
  it.write('dist/a', 'built');
  it.write('.git/HEAD', 'other');
  it.write('sub/z', 'changed');
  const done = it.change(it.snap(before), before);
  assert.deepEqual([changedIn(done), it.read('dist/a'), it.read('.git/HEAD')], [['sub/z'], 'built', 'other']);
  assert.ok(lstatSync(it.at('empty')).isDirectory());
});

test('a run that changes .gitignore makes no file of before look new, and none that it had look gone', () => {
  using it = checkpointFixture();
  it.write('.gitignore', 'cache/\n');
  it.write('cache/precious', 'of before');
  it.write('notes', 'one');
  const before = it.snap();
  it.write('.gitignore', 'notes\n');
  it.write('notes', 'two');
  const after = it.snap(before);
  const done = it.change(after, before);
  assert.deepEqual(changedIn(done), ['.gitignore', 'notes']);
  assert.deepEqual([it.read('cache/precious'), it.read('notes'), it.snap()], ['of before', 'one', before]);
});

test('rules of the repository around the folder hold, too', () => {
  using it = checkpointFixture();
  it.write('.git/info/exclude', 'private\n');
  it.write('.gitignore', '/packages/x/out\n*.tmp\n');
  for (const path of ['out', 'private', 'a.tmp', 'code']) it.write(`packages/x/${path}`, 'x');
  const root = it.at('packages/x');
  const limits = { maxFileBytes: 100, maxTotalBytes: 1_000_000, maxFiles: 100, maxMs: 60_000 };
  const [taken] = it.worker().snapshot({ wsId: 'ws', roots: [{ path: root, way: root }], limits });
  assert.deepEqual(taken?.kind === 'taken' && taken.files, 1);
});

test('a file that somebody changed since is a conflict with its reason, and nothing else is', () => {
  using it = checkpointFixture();
  for (const path of ['a', 'b', 'c', 'd']) it.write(path, 'before');
  const before = it.snap();
  for (const path of ['a', 'b', 'c', 'new']) it.write(path, 'by the run');
  rmSync(it.at('d'));
  const after = it.snap(before);
  it.write('a', 'by a person');
  rmSync(it.at('b'));
  it.write('d', 'again, by a person');
  it.write('mine', 'by a person');
  it.write('c', 'before'); // the person has taken it back already
  const plan = it.plan(after, before);
  assert.deepEqual(plan.conflicts, [
    { shown: 'a', reason: 'changed' },
    { shown: 'b', reason: 'removed' },
    { shown: 'd', reason: 'created' },
  ]);
  const choices = [{ path: 'a', choice: 'overwrite' as const }];
  const { plan: chosen } = it.change(after, before, { choices, others: 'keep' });
  assert.deepEqual([chosen.conflicts, chosen.kept], [[], ['b', 'd']]);
  assert.deepEqual(['a', 'b', 'c', 'd', 'new', 'mine'].map(it.read), [
    'before',
    undefined,
    'before',
    'again, by a person',
    undefined,
    'by a person',
  ]);
  assert.equal(it.worker().compare({ wsId: 'ws', paths: [it.root], trees: [[after, before]], maxBytes: 0 }).length, 5);
  const [[overwritten] = []] = chosen.overwritten;
  const entry = overwritten?.entry;
  const instead = [{ root: 0, path: 'a', entry: entry ?? null }];
  const steps = [{ from: [before], to: [after], instead }];
  const request = { wsId: 'ws', roots: [{ path: it.root, way: it.root }], choices: [], maxFileBytes: 1_000 };
  const redo = it.worker().plan({ ...request, steps, others: 'keep' });
  it.worker().apply({ ...request, changes: redo.changes, id: 'c2' });
  assert.equal(it.read('a'), 'by a person', 'a redo brings back what was overwritten');
});

test('an undo makes folders again with the permissions that they had, and never with more', () => {
  using it = checkpointFixture();
  for (const path of ['private/in/a', 'open/a']) it.write(path, 'a');
  chmodSync(it.at('private'), 0o700);
  chmodSync(it.at('open'), 0o775);
  const before = it.snap();
  for (const path of ['private', 'open']) rmSync(it.at(path), { recursive: true });
  const done = it.change(it.snap(before), before);
  const modeOf = (path: string) => statSync(it.at(path)).mode & 0o777;
  assert.deepEqual([done.failed, modeOf('private'), modeOf('open'), it.snap()], [[], 0o700, 0o775, before]);
});

test('a path that cannot be looked at is unreadable, and does not stop a plan', () => {
  using it = checkpointFixture();
  const looked = lookAt({ path: it.root, way: it.root }, `${'x'.repeat(300)}/a`, 1);
  assert.deepEqual(looked, { entry: { kind: 'left_out', reason: 'unreadable' } });
});

test('several runs are taken back one after another; what a person changed between them is a conflict', () => {
  using it = checkpointFixture();
  it.write('a', '0');
  it.write('b', '0');
  const first = it.snap();
  it.write('a', '1');
  it.write('b', '1');
  const second = it.snap(first);
  it.write('b', 'by a person');
  const third = it.snap();
  it.write('a', '2');
  it.write('b', '2');
  const fourth = it.snap(third);
  const steps = [
    { from: [fourth], to: [third] },
    { from: [second], to: [first] },
  ];
  const roots = [{ path: it.root, way: it.root }];
  const plan = it.worker().plan({ wsId: 'ws', roots, steps, choices: [], others: 'keep', maxFileBytes: 1_000 });
  it.worker().apply({ wsId: 'ws', roots, changes: plan.changes, id: 'c1', maxFileBytes: 1_000 });
  assert.deepEqual([plan.kept, it.read('a'), it.read('b')], [['b'], '0', 'by a person']);
});

test('a change that was interrupted can be repeated, and leaves alone what changed meanwhile', () => {
  using it = checkpointFixture();
  for (const path of ['a', 'b', 'c']) it.write(path, 'before');
  const before = it.snap();
  for (const path of ['a', 'b', 'c']) it.write(path, 'after');
  const { changes } = it.plan(it.snap(before), before);
  it.write('a', 'before'); // was made before the crash
  it.write('.headgate-c1.tmp', 'half'); // was being written
  it.write('b', 'by a person');
  it.reopen();
  const roots = [{ path: it.root, way: it.root }];
  const failed = it.worker().apply({ wsId: 'ws', roots, changes, id: 'c1', maxFileBytes: 1_000 });
  assert.deepEqual(failed, [{ root: 0, path: 'b', shown: 'b', why: 'it was changed meanwhile' }]);
  assert.deepEqual([it.read('a'), it.read('b'), it.read('c')], ['before', 'by a person', 'before']);
  assert.deepEqual(readdirSync(it.root), ['a', 'b', 'c']);
});
