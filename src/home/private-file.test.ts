import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readPlainFile, readPrivateFile } from './private-file.ts';

test('a pipe or a device in the place of a file is refused and not waited for', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-private-'));
  const at = (name: string) => path.join(folder.path, name);
  execFileSync('mkfifo', ['-m', '600', at('pipe')]);
  await symlink('/dev/zero', at('zero'));
  await writeFile(at('file'), 'text', { mode: 0o600 });
  await symlink('file', at('link'));
  for (const name of ['pipe', 'zero', '.']) await assert.rejects(readPlainFile(at(name)), /is not a file/, name);
  for (const name of ['pipe', '.']) await assert.rejects(readPrivateFile(at(name)), /is not a file; move it/, name);
  assert.deepEqual([await readPlainFile(at('link')), await readPrivateFile(at('file'))], ['text', 'text']);
});
