import assert from 'node:assert/strict';
import { chmodSync, statSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { checkpointFixture } from './checkpoint-fixture.ts';
import type { WantedContent } from './keep-file.ts';
import { hashOf } from './object-store.ts';
import { fileMark, linkMark, NOTHING } from './seen-mark.ts';

const LIMITS = { maxFileBytes: 100, maxTotalBytes: 10_000 };
const content = (text: string, isExecutable = false): WantedContent => ({
  kind: 'file',
  content: Buffer.from(text),
  isExecutable,
});
const markOfText = (text: string, mode = 0o644) => fileMark({ mode, hash: hashOf(Buffer.from(text)) });

function keeping(limits = LIMITS) {
  const it = checkpointFixture();
  const root = { path: it.root, way: it.root };
  const keep = (path: string, seen: string, wanted: WantedContent) =>
    it.worker().keep({ wsId: 'ws', root, at: { root: 0, path }, seen, wanted, limits });
  return Object.assign(it, { keep });
}

test('a file is kept as it is and as it should be, and can be changed to either', () => {
  using it = keeping();
  it.write('src/a.txt', 'now');
  chmodSync(it.at('src'), 0o750);
  chmodSync(it.at('src/a.txt'), 0o664);
  const kept = it.keep('src/a.txt', markOfText('now', 0o664), content('then', true));
  assert.ok(kept.kind === 'kept');
  assert.deepEqual(it.change(kept.before, kept.after).failed, []);
  assert.deepEqual([it.read('src/a.txt'), statSync(it.at('src/a.txt')).mode & 0o777], ['then', 0o775]);
  assert.deepEqual(it.change(kept.after, kept.before).failed, []);
  assert.deepEqual([it.read('src/a.txt'), statSync(it.at('src/a.txt')).mode & 0o777], ['now', 0o664]);
  const gone = it.keep('src/a.txt', markOfText('now', 0o664), undefined);
  assert.ok(gone.kind === 'kept');
  it.change(gone.before, gone.after);
  assert.equal(it.read('src'), undefined, 'the emptied folder goes, too');
  it.change(gone.after, gone.before);
  assert.deepEqual([it.read('src/a.txt'), statSync(it.at('src')).mode & 0o777], ['now', 0o750]);
  assert.deepEqual(it.keep('src/a.txt', markOfText('now', 0o664), content('now')), { kind: 'same' });
});

test('what is not as it was seen, and what does not fit into the limits, is refused', () => {
  using it = keeping();
  it.write('a.txt', 'now');
  chmodSync(it.at('a.txt'), 0o644);
  const changed = { kind: 'refused', reason: 'changed' };
  assert.deepEqual(it.keep('a.txt', markOfText('other'), undefined), changed);
  assert.deepEqual(it.keep('a.txt', markOfText('now', 0o600), undefined), changed);
  assert.deepEqual(it.keep('a.txt', NOTHING, undefined), changed);
  symlinkSync('a.txt', it.at('link'));
  assert.deepEqual(it.keep('link', markOfText('now'), undefined), changed, 'a link is not followed');
  assert.equal(it.keep('link', linkMark(Buffer.from('a.txt')), undefined).kind, 'kept');
  assert.deepEqual(it.keep('a.txt', markOfText('now'), content('x'.repeat(101))), { kind: 'refused', reason: 'size' });
  it.write('large', 'x'.repeat(101));
  assert.deepEqual(it.keep('large', markOfText('x'.repeat(101)), undefined), { kind: 'refused', reason: 'size' });
  using full = keeping({ ...LIMITS, maxTotalBytes: 2 });
  full.write('a.txt', 'now');
  chmodSync(full.at('a.txt'), 0o644);
  assert.deepEqual(full.keep('a.txt', markOfText('now'), undefined), { kind: 'refused', reason: 'total' });
});
