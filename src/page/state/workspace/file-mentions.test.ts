import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { completeMention, readMentioned } from './file-mentions.ts';

test('a mention is completed where the cursor is, and quoted if it has blanks', () => {
  const offered = completeMention('look at @ma and more', 11, ['main.ts', 'my notes.md', 'ma']);
  assert.deepEqual(
    offered.map(({ draft, cursor }) => [draft, cursor]),
    [
      ['look at @main.ts and more', 16],
      ['look at @"my notes.md" and more', 22],
    ],
  );
  assert.deepEqual(completeMention('look at ma', 10, ['main.ts']), []);
});

const LINES = ['one', 'two', 'three'];

/** A client of a daemon that has one text file and a secret one. */
function withFiles() {
  const fake = createFakeClient();
  fake.answer('file.read', ({ path, offset, limit }: { path: string; offset: number; limit: number }) => {
    if (!['a.ts', '.env'].includes(path)) throw new RequestError('NOT_FOUND', 'no such file');
    const file = { path, sizeBytes: 14, modifiedMs: 0, cut: false };
    if (path === '.env') return { ...file, first: 0, last: 0, lines: 0, without: 'secret' };
    const last = Math.min(LINES.length, offset + limit - 1);
    const text = LINES.slice(offset - 1, last)
      .map((line) => `${line}\n`)
      .join('');
    return { ...file, text, first: offset, last, lines: LINES.length };
  });
  return fake;
}

test('mentioned files and lines are read; people stay text', async () => {
  const files = await readMentioned('@a.ts @a.ts#2-3 @a.ts#1 @anna', 'ws', withFiles().client);
  assert.deepEqual(await Promise.all(files.map(async (file) => [file.name, await file.text()])), [
    ['a.ts', 'one\ntwo\nthree\n'],
    ['a.ts (lines 2-3)', 'two\nthree\n'],
    ['a.ts (line 1)', 'one\n'],
  ]);
});

test('of many names, fifty are looked up one after the other; lines of what is no file stay text', async () => {
  const fake = createFakeClient();
  let open = 0;
  let most = 0;
  fake.answer('file.read', async () => {
    open += 1;
    most = Math.max(most, open);
    await setImmediate();
    open -= 1;
    throw new RequestError('NOT_FOUND', 'no such file');
  });
  const names = Array.from({ length: 300 }, (_, index) => `@user/repo${index}#9-1`).join(' ');
  assert.deepEqual(await readMentioned(names, 'ws', fake.client), []);
  assert.deepEqual([fake.calls.length, most], [50, 1]);
});

test('a message attaches ten files', async () => {
  const { client, answer } = withFiles();
  answer('file.read', ({ path }: { path: string }) => ({ path, text: '', first: 1, last: 1, lines: 1, cut: false }));
  const names = (count: number) => Array.from({ length: count }, (_, index) => `@${index}.ts`).join(' ');
  assert.equal((await readMentioned(names(10), 'ws', client)).length, 10);
  await assert.rejects(readMentioned(names(11), 'ws', client), { message: /at most 10 files/ });
});

test('lines that do not exist, secrets and other failures are errors', async () => {
  const refused = (text: string) =>
    readMentioned(text, 'ws', withFiles().client).then(
      () => assert.fail('attached'),
      (error: Error) => error.message,
    );
  assert.equal(await refused('@a.ts#2-9'), '@a.ts has 3 lines, but the message names 2 to 9.');
  assert.equal(await refused('@.env'), '@.env is not attached, because it may hold secrets.');
  assert.match(await refused('@a.ts#3-2'), /^@a\.ts: name at most /);
  const failing = createFakeClient();
  failing.answer('file.read', () => {
    throw new RequestError('UNAVAILABLE', 'stopping');
  });
  await assert.rejects(readMentioned('@a.ts', 'ws', failing.client), { code: 'UNAVAILABLE' });
});
