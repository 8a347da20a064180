import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { FileBoard } from './file-board.ts';

const entry = (name: string, kind = 'file') => ({ name, path: name, kind, ignored: false, secret: false });

function boardOf() {
  const fake = createFakeClient();
  return { ...fake, board: new FileBoard({ client: fake.client, wsId: 'ws' }) };
}

test('folders are opened, read on and closed', async () => {
  const { board, answer } = boardOf();
  answer('file.list', ({ path = '.', offset = 0 }: { path?: string; offset?: number }) => ({
    ...{ path, folders: ['/work', '/added'], total: 3 },
    entries: [entry('a'), entry('b'), entry('c')].slice(offset, offset + 2),
  }));
  await board.openRoot();
  assert.deepEqual(board.added, ['/added']);
  const names = (path: string) => board.listings.value.get(path)?.entries.map(({ name }) => name);
  assert.deepEqual(names('.'), ['a', 'b']);
  await board.more('.');
  assert.deepEqual(names('.'), ['a', 'b', 'c']);
  await board.toggle('src');
  assert.deepEqual(names('src'), ['a', 'b']);
  await board.toggle('src');
  assert.equal(names('src'), undefined);
});

test('a file is opened around a line, and its pages are turned', async () => {
  const { board, answer, calls } = boardOf();
  answer('file.read', ({ offset, limit }: { offset: number; limit: number }) => ({
    ...{ path: 'a.ts', sizeBytes: 1, modifiedMs: 0, text: '', cut: false },
    ...{ first: offset, last: Math.min(5_000, offset + limit - 1), lines: 5_000 },
  }));
  await board.open('a.ts', 1_500);
  await board.turn(1);
  await board.turn(-1);
  await board.open('a.ts', 3);
  await board.turn(-1);
  const asked = calls.map(([, params]) => params as { offset: number; limit: number });
  assert.deepEqual(
    asked.map(({ offset, limit }) => [offset, limit]),
    [
      [1_300, 1_000],
      [2_300, 1_000],
      [1_300, 1_000],
      [1, 1_000],
      [1, 1],
    ],
  );
});

test('diffs that are open are read again, unless their file has no change any more', async () => {
  const { board, answer } = boardOf();
  let changed = ['a.ts', 'b.ts'];
  answer('file.changes', () => ({
    repositories: [{ path: '.', files: changed.map((path) => ({ path, unstaged: 'modified' })), complete: true }],
  }));
  answer('file.diff', ({ path }: { path: string }) => ({ path, additions: 1, deletions: 0, diff: 'x' }));
  await board.readChanges();
  await board.toggleChange('a.ts');
  await board.toggleChange('b.ts');
  changed = ['b.ts'];
  await board.readChanges();
  assert.deepEqual([...board.changes.value.keys()], ['b.ts']);
});

test('only the answer to the latest search is shown, and a failure is reported', async () => {
  const { board, answer } = boardOf();
  const first = Promise.withResolvers<{ paths: string[]; complete: boolean }>();
  answer('file.find', ({ query }: { query: string }) =>
    query === 'a' ? first.promise : { paths: [query], complete: true },
  );
  const slow = board.search('a');
  await board.search('ab');
  first.resolve({ paths: ['late'], complete: true });
  await slow;
  assert.deepEqual(board.found.value, ['ab']);
  await board.search('');
  assert.equal(board.found.value, undefined);
  answer('file.read', () => {
    throw new Error('no such file');
  });
  await board.open('x');
  assert.equal(board.problem.value, 'no such file');
});

test('only the file that was opened last is shown, and none that was closed meanwhile', async () => {
  const { board, answer } = boardOf();
  const slow = Promise.withResolvers<object>();
  const broken = Promise.withResolvers<object>();
  const waiting: Record<string, Promise<object>> = { slow: slow.promise, broken: broken.promise };
  answer('file.read', ({ path }: { path: string }) => waiting[path] ?? { path });
  const opened = [board.open('slow'), board.open('broken')];
  await board.open('last');
  slow.resolve({ path: 'slow' });
  broken.reject(new Error('no such file'));
  await Promise.all(opened);
  assert.deepEqual([board.file.value?.path, board.problem.value], ['last', undefined]);
  const late = board.open('slow');
  board.closeFile();
  await late;
  assert.equal(board.file.value, undefined);
});

test('of several reads of the changes and of one diff, the newest counts, whichever answer comes last', async () => {
  const { board, answer } = boardOf();
  const repository = (path: string) => ({ repositories: [{ path: '.', files: [{ path, unstaged: 'modified' }] }] });
  const [older, broken] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  const reads = [older.promise, broken.promise, repository('new.ts')];
  answer('file.changes', () => reads.shift());
  const slow = [board.readChanges(), board.readChanges()];
  await board.readChanges();
  older.resolve(repository('old.ts'));
  broken.reject(new Error('no answer'));
  await Promise.all(slow);
  const shown = board.repositories.value?.flatMap(({ files }) => files.map(({ path }) => path));
  assert.deepEqual([shown, board.problem.value], [['new.ts'], undefined]);

  const early = Promise.withResolvers<object>();
  const diffs = [early.promise, { path: 'new.ts', diff: 'new' }];
  answer('file.diff', () => diffs.shift());
  const first = board.showChange('new.ts');
  await board.showChange('new.ts');
  early.resolve({ path: 'new.ts', diff: 'old' });
  await first;
  assert.equal(board.changes.value.get('new.ts')?.diff, 'new');
});
