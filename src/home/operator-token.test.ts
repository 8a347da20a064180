import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { tokenMatcher } from '../gateway/auth/token-matcher.ts';
import { randomIds } from '../ids.ts';
import { tempDir } from '../testing/temp-store.ts';
import { findOperatorToken, openOperatorToken } from './operator-token.ts';

test('the first start creates a token that only its owner can read; later starts keep it', async () => {
  using home = tempDir();
  assert.equal(await findOperatorToken(home.path), undefined);
  const token = await openOperatorToken(home.path, randomIds);
  assert.match(token, /^svc_[0-9a-f]{64}$/);
  assert.equal((await stat(join(home.path, 'token'))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(home.path), ['token']);
  assert.equal(await openOperatorToken(home.path, randomIds), token);
  assert.equal(await findOperatorToken(home.path), token);
});

test('two starts at once agree on one token', async () => {
  using home = tempDir();
  const [one, two] = await Promise.all([
    openOperatorToken(home.path, randomIds),
    openOperatorToken(home.path, randomIds),
  ]);
  assert.equal(one, two);
});

test('a token that others can read is refused, with advice', async () => {
  using home = tempDir();
  await openOperatorToken(home.path, randomIds);
  const path = join(home.path, 'token');
  for (const mode of [0o640, 0o604, 0o660]) {
    await chmod(path, mode);
    await assert.rejects(openOperatorToken(home.path, randomIds), {
      message: `${path} can be read by other users (mode ${mode.toString(8)}); run: chmod 600 '${path}'`,
    });
  }
});

test('a file without a token is refused and not changed', async () => {
  using home = tempDir();
  const path = join(home.path, 'token');
  for (const text of [
    '',
    'svc_',
    `svc_${'A'.repeat(64)}`,
    `svc_${'a'.repeat(63)}`,
    `svc_${'a'.repeat(64)}b`,
    '\0\0\0',
  ]) {
    await writeFile(path, text, { mode: 0o600 });
    await assert.rejects(openOperatorToken(home.path, randomIds), /does not hold a token; move it away/);
    assert.equal(await readFile(path, 'utf8'), text);
  }
});

test('a link or a folder in its place is refused', async () => {
  using home = tempDir();
  const path = join(home.path, 'token');
  await symlink('/etc/passwd', path);
  await assert.rejects(openOperatorToken(home.path, randomIds), { message: `${path} is a symbolic link` });
  using other = tempDir();
  await mkdir(join(other.path, 'token'));
  await assert.rejects(openOperatorToken(other.path, randomIds), /is not a file/);
});

test('only the exact token matches', () => {
  const token = `svc_${'ab'.repeat(32)}`;
  const matches = tokenMatcher(token);
  const others = [
    ...['', 'svc_', token.slice(1), `${token} `, ` ${token}`, token.toUpperCase(), token.replace('a', 'c')],
    ...[`\u0173${token.slice(1)}`, '__proto__', 'constructor'], // u0173 is an s in its low byte
  ];
  assert.deepEqual([token, ...others].filter(matches), [token]);
});
