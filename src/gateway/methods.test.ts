import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';

/** The nouns of a folder: its files except tests. */
async function nounsOf(folder: string): Promise<string[]> {
  const names = await readdir(new URL(folder, import.meta.url));
  return names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort();
}

test('every noun of the protocol except connect has its handlers in a file of the same name', async () => {
  const contracts = await nounsOf('../../protocol/methods/');
  assert.deepEqual(
    await nounsOf('./methods/'),
    contracts.filter((name) => name !== 'connect.ts'),
  );
  const shared = ['oidc-identity.ts', 'permissions.ts', 'step-up.ts']; // no nouns, but what several of them need
  assert.deepEqual(
    await nounsOf('./methods/accounts/'),
    (await nounsOf('../../protocol/methods/accounts/')).filter((name) => !shared.includes(name)),
  );
});
