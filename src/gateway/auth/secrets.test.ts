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
import { openSqliteStore } from '../store/sqlite-store.ts';
import { openTestVault } from '../testing/test-vault.ts';
import { openSecrets } from './secrets.ts';

/** As a new process does; the database is in the home. */
const openAll = async (home: string, onNotice?: (notice: Notice) => void, environment: Environment = {}) => {
  await using store = await openSqliteStore({
    ...{ path: join(home, 'headgate.db'), clock: fakeClock(), log: recordingLog() },
    ...{ durability: 'normal', bootId: 'boot' },
  });
  return await openSecrets({
    home,
    vault: await openTestVault(store, home),
    environment,
    ids: randomIds,
    clock: fakeClock(),
    log: recordingLog(),
    ...(onNotice && { onNotice }),
  });
};
const open = async (...given: Parameters<typeof openAll>) => (await openAll(...given)).signingKey;
/** The key signs as this secret does. */
const isSecret = async (key: Awaited<ReturnType<typeof open>>, secret: string) =>
  jwtVerify(await signed(key), Buffer.from(secret, 'hex')).then(() => true);
const signed = async (key: Awaited<ReturnType<typeof open>>) =>
  new SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).sign(key);

test('the key is created once, cannot be exported, and is only in the encrypted part of the database', async () => {
  using home = tempDir();
  const key = await open(home.path);
  assert.equal(key.extractable, false);
  assert.equal(await signed(await open(home.path)), await signed(key));
  assert.deepEqual((await readdir(home.path)).sort(), ['headgate-key', 'headgate.db']);
});

test('secrets that an earlier version left in clear move to the database, whenever the process is killed', async () => {
  const [jwt_secret, audit_secret] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const document = { jwt_secret, audit_secret, other: 'kept' };
  /** What a kill leaves behind: nothing done, the database written, the file written once. */
  for (const [main, backup] of [
    [document, document],
    [document, { other: 'kept' }],
    [{ other: 'kept' }, document],
  ]) {
    using home = tempDir();
    const path = join(home.path, 'secrets.json');
    const write = (file: string, content: unknown) => writeFile(file, JSON.stringify(content), { mode: 0o600 });
    await write(path, document);
    const first = await openAll(home.path);
    assert.deepEqual([await isSecret(first.signingKey, jwt_secret), first.auditSecret], [true, audit_secret]);
    await write(path, main);
    await write(`${path}.bak`, backup);
    const next = await openAll(home.path);
    assert.deepEqual(
      [await isSecret(next.signingKey, jwt_secret), next.auditSecret, next.isAuditSecretNew],
      [true, audit_secret, false],
    );
    const files = (await readdir(home.path)).sort();
    assert.deepEqual(files, ['headgate-key', 'headgate.db', 'secrets.json', 'secrets.json.bak']);
    for (const name of files) {
      const bytes = await readFile(join(home.path, name));
      const found = [jwt_secret, audit_secret].some(
        (secret) => bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'hex')),
      );
      assert.equal(found, false, name);
    }
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), { other: 'kept' });
  }
});

test('a secret in the file does not replace the one of the database', async () => {
  using home = tempDir();
  const { auditSecret } = await openAll(home.path);
  await writeFile(join(home.path, 'secrets.json'), JSON.stringify({ audit_secret: 'ef'.repeat(32) }), { mode: 0o600 });
  assert.equal((await openAll(home.path)).auditSecret, auditSecret);
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

const secretFiles = async (home: string) => (await readdir(home)).filter((name) => name.startsWith('secrets.json'));

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
    assert.deepEqual([await readFile(path, 'utf8'), await secretFiles(home.path)], [text, ['secrets.json']]);
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
