import assert from 'node:assert/strict';
import { test } from 'node:test';
import commands from '../../src/agent/permissions/corpus/commands.json' with { type: 'json' };
import { readCommand } from '../../src/agent/permissions/read-command.ts';
import { needs } from '../../src/testing/needs.ts';
import { findMisses } from './compare.ts';
import { runOracle } from './oracle.ts';
import { readTrace } from './trace.ts';

const ALL = Object.keys(commands);
/** A sample; `npm run effects-oracle` runs all of them, and 2000 commands altogether. */
const GIVEN = ALL.filter((_, index) => index % 25 === 3);
const COUNT = 40;

test(
  'what commands do in the sandbox was named by their reading',
  await needs('bubblewrap', 'strace', 'Linux'),
  async () => {
    const { ran, known, misses } = await runOracle({ given: GIVEN, count: COUNT, seed: 1 });
    assert.deepEqual([misses, ran], [[], COUNT]);
    assert.ok(known >= COUNT / 2, `${known} of ${COUNT} commands were known completely`);
  },
);

test('a trace names programs, changes, connections and signals, but no temporary files', () => {
  const trace = `
10 execve("/usr/bin/mv", ["mv", "a", "b"], 0x7ffd /* 9 vars */) = 0
10 renameat2(AT_FDCWD</work>, "a", AT_FDCWD</work>, "b", RENAME_NOREPLACE) = 0
10 openat(AT_FDCWD</work>, "tmp1", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</work/tmp1>
10 unlink("tmp1") = 0
10 openat(AT_FDCWD</work>, "in", O_RDONLY) = 3</work/in>
11 chdir("sub") = 0
11 unlink("x") = -1 ENOENT (No such file or directory)
10 connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")}, 16 <unfinished ...>
11 kill(12, SIGTERM) = 0
10 <... connect resumed>) = -1 ECONNREFUSED (Connection refused)
10 mkdir("made", 0777) = 0
`;
  assert.deepEqual(readTrace(trace, '/work'), {
    execs: ['/usr/bin/mv'],
    writes: ['/work/b'],
    folders: ['/work/made'],
    deletes: ['/work/a', '/work/sub/x'],
    connects: ['127.0.0.1'],
    kills: ['12 SIGTERM'],
  });
});

test('an effect that the reading did not name is a miss', () => {
  const trace = {
    execs: ['/usr/bin/cat', '/usr/bin/rm'],
    writes: ['/work/out', '/work/other'],
    folders: ['/work/made'],
    deletes: ['/work/gone'],
    connects: ['127.0.0.1'],
    kills: ['12 SIGTERM'],
  };
  const misses = findMisses(readCommand('cat a > out', { folder: '/work' }), trace);
  assert.deepEqual(
    misses.map(({ what, target }) => `${what} ${target}`),
    [
      'exec /usr/bin/rm',
      'write /work/other',
      'write /work/made',
      'delete /work/gone',
      'connect 127.0.0.1',
      'kill 12 SIGTERM',
    ],
  );
});
