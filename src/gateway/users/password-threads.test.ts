import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswordThreads } from './password-threads.ts';
import { createPasswords } from './passwords.ts';

const url = new URL('./password-worker.ts', import.meta.url);

test('the threads compute the same hashes as Node’s pool, several at once, and report an invalid job', async () => {
  const derive = createPasswordThreads(url);
  const [here, there] = [createPasswords(), createPasswords({ derive })];
  const stored = await here.hash('correct horse');
  const asked = ['correct horse', 'wrong', 'correct horse'].map((password) => there.matches(password, stored));
  assert.deepEqual(await Promise.all(asked), [true, false, true]);
  const job = { message: 'x', nonce: Buffer.alloc(16), memory: 64, passes: 1, parallelism: 1, tagLength: 32 };
  await assert.rejects(derive({ ...job, memory: 1 }), /memory/);
  assert.equal((await derive(job)).length, 32);
});

test('a thread that cannot be started refuses its password', async () => {
  const passwords = createPasswords({ derive: createPasswordThreads(new URL('./no-such-file.ts', import.meta.url)) });
  await assert.rejects(passwords.hash('correct horse'), /no-such-file/);
});
