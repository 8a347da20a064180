import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { BASH } from './program-fixture.ts';
import { createProcessRunner } from './runner.ts';

// A process that runs one command outside the sandbox, as a daemon does, and prints what it prints.
const [, , command = ''] = process.argv;
const runner = createProcessRunner({
  clock: systemClock,
  environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  sandbox: { kind: 'none', reason: 'a test', required: false },
  bash: BASH,
  ids: randomIds,
  home: `/homes/lifeline-${process.pid}`,
});
const folder = await holdFolder('/');
await runner.run(
  { command, folder, timeoutMs: 60_000 },
  {
    signal: new AbortController().signal,
    onProcess: async () => undefined,
    onOutput: async (bytes) => void process.stdout.write(bytes),
  },
);
