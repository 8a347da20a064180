import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { type AuditHead, createAuditHeadFile } from './audit-head.ts';

const SECRET = '0a'.repeat(32);
const headAt = (seq: number): AuditHead => ({ firstSeq: 1, before: '', seq, digest: String(seq) });

test('the head that another daemon signed later counts, and an older or forged copy does not', async () => {
  using dir = tempDir();
  let text: string | undefined;
  const shared = {
    read: async () => text,
    async write(written: string) {
      text = written;
    },
  };
  const fileOf = (name: string, secret = SECRET) =>
    createAuditHeadFile({ path: path.join(dir.path, name), secret, shared });
  const [one, other] = [fileOf('one'), fileOf('other')];
  assert.equal(await one.read(), undefined);
  await one.write(headAt(5));
  assert.deepEqual(await other.read(), headAt(5), 'the other daemon has no file yet');
  await other.write(headAt(9));
  const newest = text;
  assert.deepEqual(await one.read(), headAt(9));
  await one.write(headAt(5));
  assert.deepEqual(await other.read(), headAt(9), 'an older copy says nothing');
  await fileOf('forger', '0b'.repeat(32)).write(headAt(99));
  assert.deepEqual([await one.read(), await other.read()], [headAt(5), headAt(9)]);
  text = newest;
  await rm(path.join(dir.path, 'other'));
  assert.deepEqual(await other.read(), headAt(9));
});
