import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkpointFixture } from './checkpoint-fixture.ts';

test('files that are too large, or beyond the space, are named and left alone', () => {
  using it = checkpointFixture({ maxFileBytes: 1_000, maxTotalBytes: 3_000 });
  it.write('large', 'x'.repeat(1_001));
  it.write('small', 'x');
  const before = it.snap();
  const left = () => it.worker().leftOut({ wsId: 'ws', paths: [it.root], trees: [it.snap()], limit: 10 });
  assert.deepEqual(left(), [{ shown: 'large', reason: 'size' }]);
  it.write('large', 'y'.repeat(1_002));
  it.write('small', 'z'.repeat(2_000));
  const after = it.snap(before);
  const plan = it.plan(after, before);
  assert.deepEqual([plan.conflicts, plan.missing], [[{ shown: 'small', reason: 'unknown' }], []]);
  rmSync(it.at('large'));
  const gone = it.change(it.snap(before), before, { others: 'overwrite' });
  assert.deepEqual([gone.plan.missing, it.read('small')], [['large'], 'x']);
  for (let n = 0; n < 8; n += 1)
    it.write(`random${n}`, Buffer.from(Array.from({ length: 900 }, () => Math.random() * 256)));
  assert.ok(left().some(({ reason }) => reason === 'total'));
});

test('a folder with too many files gets no snapshot, with the reason', () => {
  using it = checkpointFixture({ maxFiles: 2 });
  for (const path of ['a', 'b', 'c']) it.write(path, path);
  assert.deepEqual(it.attempt(), { kind: 'none', reason: 'files' });
});

test('links are stored as links and never followed, neither by a snapshot nor by an undo', () => {
  using it = checkpointFixture();
  const outside = join(it.root, '..', 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'mine');
  it.write('dir/file', 'before');
  const before = it.snap();
  it.write('dir/file', 'after');
  const after = it.snap(before);
  renameSync(it.at('dir'), it.at('moved'));
  symlinkSync(outside, it.at('dir'));
  const linked = it.snap();
  const held = it.worker().compare({ wsId: 'ws', paths: [it.root], trees: [[undefined, linked]], maxBytes: 1_000 });
  assert.deepEqual(
    held.map(({ shown, additions }) => [shown, additions]),
    [
      ['dir', 1],
      ['moved/file', 1],
    ],
  );
  const { plan, failed } = it.change(after, before, { others: 'overwrite' });
  assert.deepEqual([plan.changes.length, failed.length], [1, 1]);
  assert.deepEqual(readdirSync(outside), ['secret']);
});

test('contents are stored once, only for the daemon’s user, and are found again after a restart', () => {
  using it = checkpointFixture();
  it.write('a', 'x'.repeat(10_000));
  const before = it.snap();
  const bytes = it.worker().bytes({ wsId: 'ws' });
  it.write('b', 'x'.repeat(10_000));
  const after = it.snap();
  assert.ok(it.worker().bytes({ wsId: 'ws' }) - bytes < 500, 'the same content takes no space');
  writeFileSync(join(it.folder, 'ws', '00000099.pack'), 'unfinished');
  it.reopen();
  assert.deepEqual([it.snap(), it.plan(after, before).changes.length], [after, 1]);
  const files = readdirSync(join(it.folder, 'ws'));
  assert.equal(files.includes('00000099.pack'), false);
  assert.deepEqual(new Set(files.map((name) => statSync(join(it.folder, 'ws', name)).mode & 0o777)), new Set([0o600]));
  assert.deepEqual(
    [it.folder, join(it.folder, 'ws')].map((path) => statSync(path).mode & 0o777),
    [0o700, 0o700],
  );
});

test('contents that no snapshot needs any more are removed, and the others stay', () => {
  using it = checkpointFixture();
  const noise = (n: number) => Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * at * (n + 7)) % 251));
  const trees = Array.from({ length: 20 }, (_, n) => {
    it.write('a', noise(n));
    return it.snap();
  });
  const [last = ''] = trees.slice(-1);
  const bytes = it.worker().bytes({ wsId: 'ws' });
  assert.ok(it.worker().keepOnly({ wsId: 'ws', trees: [last], objects: [] }) < bytes / 10);
  it.reopen();
  it.write('a', 'other');
  it.change(it.snap(last), last);
  assert.deepEqual(readFileSync(it.at('a')), noise(19));
  assert.deepEqual(it.worker().workstreams({}), ['ws']);
  it.worker().drop({ wsIds: ['ws'] });
  assert.deepEqual(readdirSync(it.folder), []);
});

test('a merge of packs that fails leaves everything that was stored', () => {
  using it = checkpointFixture();
  const trees = Array.from({ length: 20 }, (_, n) => {
    it.write('a', `content ${n}`);
    return it.snap();
  });
  const inFolder = () => readdirSync(join(it.folder, 'ws')).filter((name) => !name.endsWith('.tmp'));
  const before = { names: inFolder(), bytes: it.worker().bytes({ wsId: 'ws' }) };
  for (let n = 0; n < 100; n += 1) mkdirSync(join(it.folder, 'ws', `${String(n).padStart(8, '0')}.idx.tmp`));
  assert.throws(() => it.worker().keepOnly({ wsId: 'ws', trees, objects: [] }));
  assert.deepEqual({ names: inFolder(), bytes: it.worker().bytes({ wsId: 'ws' }) }, before);
  const [first = '', second = ''] = trees;
  assert.deepEqual([it.worker().holds({ wsId: 'ws', trees }), it.plan(second, first).conflicts.length], [true, 1]);
});

test('a damaged content is an error that names it, and no file is written', () => {
  using it = checkpointFixture();
  it.write('a', 'before, and long enough to be worth it');
  const before = it.snap();
  it.write('a', 'after');
  const after = it.snap(before);
  for (const name of readdirSync(join(it.folder, 'ws')))
    if (name.endsWith('.pack')) truncateSync(join(it.folder, 'ws', name), 3);
  it.reopen();
  assert.throws(() => it.plan(after, before), { name: 'DamagedObject' });
  assert.equal(it.read('a'), 'after');
});

test('a change right after a snapshot is seen, although it leaves the file the same size', () => {
  using it = checkpointFixture();
  for (let n = 0; n < 20; n += 1) {
    it.write('a', String(n % 10));
    const one = it.snap();
    it.write('a', String((n + 1) % 10));
    assert.notEqual(it.snap(), one);
  }
});

test('diffs show lines, and say why they show none', () => {
  using it = checkpointFixture();
  it.write('text', 'one\ntwo\n');
  it.write('data', Buffer.from([0, 1]));
  it.write('.env', 'KEY=1\n');
  it.write('mode', 'x');
  const before = it.snap();
  it.write('text', 'one\n2\nthree\n');
  it.write('data', Buffer.from([0, 2]));
  it.write('.env', 'KEY=2\n');
  chmodSync(it.at('mode'), 0o755);
  it.write('new', 'n\n');
  const after = it.snap(before);
  const ask = { wsId: 'ws', paths: [it.root], trees: [[before, after] as const] };
  const files = it.worker().compare({ ...ask, maxBytes: 10_000 });
  assert.deepEqual(
    files.map(({ shown, change, additions, deletions, without, modes }) => [
      ...[shown, change, additions, deletions],
      without ?? modes?.after.toString(8),
    ]),
    [
      ['.env', 'modified', 0, 0, 'secret'],
      ['data', 'modified', 0, 0, 'binary'],
      ['mode', 'modified', 0, 0, '755'],
      ['new', 'added', 1, 0, undefined],
      ['text', 'modified', 2, 1, undefined],
    ],
  );
  assert.match(files.at(-1)?.diff ?? '', /-two\n\+2\n\+three/);
  assert.deepEqual(
    it
      .worker()
      .compare({ ...ask, maxBytes: 1, only: 'text' })
      .map(({ without }) => without),
    ['budget'],
  );
});
