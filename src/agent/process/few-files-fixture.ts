import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { searchWithRipgrep } from '../tools/search/search-ripgrep.ts';
import { namesWithRipgrep } from '../workspace/ripgrep-names.ts';
import { createLifeline } from './lifeline.ts';
import { BASH } from './program-fixture.ts';
import { createProcessRunner } from './runner.ts';

// Starts programs when no more files can be opened, and prints what becomes of them.
const { signal } = new AbortController();
const path = await mkdtemp(join(tmpdir(), 'headgate-few-files-'));
const folder = await holdFolder(path);
const runner = createProcessRunner({
  ...{ sandbox: { kind: 'none', reason: 'a test', required: false }, bash: BASH, environment: {}, ids: randomIds },
  ...{ home: path, workdirs: [], clock: systemClock },
});
const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  // no more
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const first = (names: AsyncGenerator<unknown>) => names.next().then(() => 'done', wordsOf);
const command = runner.run(
  { command: 'true', folder, timeoutMs: 10_000 },
  { signal, onProcess: async () => undefined, onOutput: async () => undefined },
);
createLifeline(BASH).hold({ pid: process.pid, startTicks: 0, mark: 'a' });
const results = [
  await command.then((end) => ('message' in end ? end.message : end.kind), wordsOf),
  await first(namesWithRipgrep('/bin/true', path, signal)),
  await first(
    searchWithRipgrep(
      '/bin/true',
      { query: 'a', target: path, root: path, glob: undefined, showSecrets: false },
      signal,
    ),
  ),
];
for (const fd of opened) closeSync(fd);
rmSync(path, { recursive: true });
process.stdout.write(`${results.map((words) => words.replace(/^The command.*: /, '')).join('\n')}\n`);
