import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../testing/temp-store.ts';
import { readBootId } from './boot-id.ts';

test('the kernel’s boot id is read without its line end', async () => {
  using dir = tempDir();
  const file = path.join(dir.path, 'boot_id');
  await writeFile(file, 'b6a0-1\n');
  assert.equal(await readBootId(file), 'b6a0-1');
});

test('without a boot id, the result never changes', async () => {
  const first = await readBootId('/nowhere/boot_id');
  assert.notEqual(first, '');
  assert.equal(await readBootId('/nowhere/boot_id'), first);
});
