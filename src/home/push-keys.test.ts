import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../testing/temp-store.ts';
import { openPushKeys } from './push-keys.ts';

const KEYS = { publicKey: 'B'.repeat(87), privateKey: 'p'.repeat(43) };
const notAgain = () => assert.fail('they exist');

test('keys are made once, and only their owner can read them', async () => {
  using home = tempDir();
  assert.deepEqual(await openPushKeys(home.path, () => KEYS), KEYS);
  assert.deepEqual(await openPushKeys(home.path, notAgain), KEYS);
  assert.equal((await stat(join(home.path, 'push-keys.json'))).mode & 0o777, 0o600);
});

test('a file that others can read, or that holds something else, is refused and stays as it is', async () => {
  using home = tempDir();
  const file = join(home.path, 'push-keys.json');
  await writeFile(file, '{}', { mode: 0o600 });
  await assert.rejects(openPushKeys(home.path, notAgain), /push-keys\.json does not hold keys; move it away/);
  await chmod(file, 0o644);
  await assert.rejects(openPushKeys(home.path, notAgain), /can be read by other users/);
  assert.equal(await readFile(file, 'utf8'), '{}');
});
