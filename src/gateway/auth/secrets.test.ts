import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jwtVerify, SignJWT } from 'jose';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Environment } from '../../environment.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { openSecrets } from './secrets.ts';

const open = async (home: string, onNotice?: (notice: Notice) => void, environment: Environment = {}) => {
  const { signingKey } = await openSecrets({
    home,
    environment,
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

for (const text of ['', '{"jwt_se']) {
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

const MALFORMED = ['', 'short', 'ab'.repeat(31), 'z'.repeat(64), 'a'.repeat(65)];
const REFUSED = [
  ...['[]', 'null', '"text"'].map((text) => [text, 'it must hold one JSON object'] as const),
  ...['jwt_secret', 'audit_secret'].flatMap((key) =>
    MALFORMED.map(
      (secret) => [JSON.stringify({ audit_secret: 'ab'.repeat(32), [key]: secret }), `${key} must be`] as const,
    ),
  ),
];

for (const [text, says] of REFUSED) {
  test(`a file with ${text} prevents the start, and is not changed`, async () => {
    using home = tempDir();
    const path = join(home.path, 'secrets.json');
    await writeFile(path, text, { mode: 0o600 });
    await assert.rejects(open(home.path), ({ message }: Error) => {
      assert.ok(message.startsWith(`${path} cannot be used: ${says}`), message);
      assert.ok(message.endsWith('The file was not changed.'));
      assert.doesNotMatch(message, /short|abab|zzz|aaa/);
      return true;
    });
    assert.deepEqual([await readFile(path, 'utf8'), await readdir(home.path)], [text, ['secrets.json']]);
  });
}

test('a secret in HEADGATE_JWT_SECRET signs, and the one of the file is kept', async () => {
  using home = tempDir();
  const own = await signed(await open(home.path));
  const given = { HEADGATE_JWT_SECRET: 'a secret that the operator chose' };
  const key = await open(home.path, undefined, given);
  const { payload } = await jwtVerify(await signed(key), Buffer.from(given.HEADGATE_JWT_SECRET));
  assert.deepEqual([payload, await signed(await open(home.path))], [{ a: 1 }, own]);
});

test('HEADGATE_JWT_SECRET with less than 32 bytes prevents the start; an empty one counts as unset', async () => {
  using home = tempDir();
  for (const secret of ['x', 'x'.repeat(31)])
    await assert.rejects(open(home.path, undefined, { HEADGATE_JWT_SECRET: secret }), {
      message: new RegExp(`^HEADGATE_JWT_SECRET is too short: it has ${secret.length} bytes, and .* at least 32`),
    });
  await open(home.path, undefined, { HEADGATE_JWT_SECRET: 'é'.repeat(16) });
  const own = await signed(await open(home.path));
  assert.equal(await signed(await open(home.path, undefined, { HEADGATE_JWT_SECRET: '' })), own);
});
