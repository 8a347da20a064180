import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { type Notice, warn } from '../../../protocol/notice.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { openSecrets } from './secrets.ts';

const open = async (home: string, onNotice?: (notice: Notice) => void) => {
  const { signingKey } = await openSecrets({
    home,
    ids: randomIds,
    clock: fakeClock(),
    log: recordingLog(),
    ...(onNotice && { onNotice }),
  });
  return signingKey;
};
const signed = async (key: Awaited<ReturnType<typeof open>>) =>
  new SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).sign(key);

test('the key is created once, readable by its owner only, and cannot be exported', async () => {
  using home = tempDir();
  const key = await open(home.path);
  assert.equal(key.extractable, false);
  assert.equal(await signed(await open(home.path)), await signed(key));
  const path = join(home.path, 'secrets.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.match(JSON.parse(await readFile(path, 'utf8')).jwt_secret, /^[0-9a-f]{64}$/);
});

test('other secrets in the same file are kept', async () => {
  using home = tempDir();
  const path = join(home.path, 'secrets.json');
  await writeFile(path, '{"other":"kept"}', { mode: 0o600 });
  await open(home.path);
  assert.equal(JSON.parse(await readFile(path, 'utf8')).other, 'kept');
});

for (const text of ['', '{"jwt_se', '[]', ...['', 'ab'.repeat(31), 'z'.repeat(64), 'a'.repeat(65)].map(withKey)]) {
  test(`a file with ${JSON.stringify(text)} is kept and reported, and a new key is created once`, async () => {
    using home = tempDir();
    const path = join(home.path, 'secrets.json');
    await writeFile(path, text, { mode: 0o600 });
    const notices: Notice[] = [];
    const key = await open(home.path, (notice) => notices.push(notice));
    const aside = `${path}.corrupt-0`;
    assert.deepEqual(
      [notices, await readFile(aside, 'utf8')],
      [
        [
          warn(
            'login_key_lost',
            'secrets.json was damaged. It is kept as secrets.json.corrupt-0; logged-in users may have to log in again.',
          ),
        ],
        text,
      ],
    );
    assert.equal(await signed(await open(home.path)), await signed(key));
  });
}

function withKey(key: string): string {
  return JSON.stringify({ jwt_secret: key });
}
