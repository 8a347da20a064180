import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { openArena } from './arena.ts';
import { openHeadgate, openNothing } from './contenders.ts';
import { ESCAPES } from './rows.ts';
import { runEscapes, runTogether } from './run-escapes.ts';

const sandboxed = await needs('bubblewrap', 'curl', 'perl');
const arena = await openArena();
after(() => arena[Symbol.asyncDispose]());

test('no way out of the sandbox works, with all of a category in one command', sandboxed, async () => {
  const found = await runTogether(arena, await openHeadgate(arena));
  assert.deepEqual(found, {
    files: [],
    processes: [],
    kernel: [],
    sockets: [],
    'protected paths': [],
    network: [],
  });
});

/** Harmless without a sandbox, too. */
const HARMLESS = [
  ...[
    'a private key',
    'killing a process outside',
    'outliving the command',
    'a socket like Docker’s',
    'the daemon’s port',
  ],
  ...[
    'variables for a folder',
    'a hook of a repository',
    'a datagram to this machine',
    'writing beside the root folder',
  ],
];

test('without a sandbox each kind of escape is noticed', await needs('perl'), async () => {
  const rows = ESCAPES.filter(({ name }) => HARMLESS.includes(name));
  const results = await runEscapes(arena, openNothing(arena), rows);
  assert.deepEqual(
    results.map(({ name, escapes }) => [name, escapes.length > 0]),
    rows.map(({ name }) => [name, true]),
  );
});
