import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir, tempStore } from '../../../src/testing/temp-store.ts';
import { faultyStore } from './faulty-store.ts';

test('the nth matching commit fails once as unavailable', async () => {
  await using store = await tempStore();
  const faulty = faultyStore(store, { kind: 'unavailable', nth: 2, matches: (unit) => unit.events?.wsId === 'a' });
  const outcomes: string[] = [];
  for (const wsId of ['a', 'b', 'a', 'a']) {
    const committed = faulty.commit({ events: { wsId, events: [{ type: 'info', message: wsId }] } });
    outcomes.push(
      await committed.then(
        (offset) => `${wsId} ${offset}`,
        (error) => error.code,
      ),
    );
  }
  assert.deepEqual(outcomes, ['a 1', 'b 1', 'UNAVAILABLE', 'a 2']);
});

for (const [kind, last] of [
  ['kill before', 2],
  ['kill after', 3],
] as const) {
  test(`${kind}: the process dies and ${last} commits are on disk`, async () => {
    using dir = tempDir();
    const path = join(dir.path, 'headgate.db');
    const script = fileURLToPath(new URL('../fixtures/killed-store.ts', import.meta.url));
    const child = spawn(process.execPath, [script, path, kind], { stdio: 'inherit' });
    const [, signal] = await once(child, 'exit');
    await using store = await tempStore({ path });
    assert.deepEqual({ signal, last: store.bounds('a').last }, { signal: 'SIGKILL', last });
  });
}
