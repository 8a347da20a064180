import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeMachine } from '../../process/program-fixture.ts';
import type { ProcessResult, ProcessRunner } from '../../process/runner.ts';
import { StopReason } from '../../stop-reason.ts';
import { createConfinement } from '../files/confinement.ts';
import { createToolFixture, execute } from '../tool-fixture.ts';
import { createWriteFileTool } from '../write-file.ts';
import { type DiagnosticsCommand, withDiagnostics } from './diagnose.ts';

type Ran = Parameters<ProcessRunner['run']>[0];

const exited = (exitCode: number): ProcessResult => ({ kind: 'exited', exitCode });

interface Answer {
  printed?: string;
  result?: ProcessResult;
  throws?: Error;
}

async function start(commands: readonly Partial<DiagnosticsCommand>[], answer: Answer = {}, sandbox = true) {
  const fixture = await createToolFixture();
  const ran: Ran[] = [];
  const runner: ProcessRunner = {
    ...fakeMachine(sandbox),
    async run(command, { onOutput }) {
      ran.push(command);
      if (answer.throws) throw answer.throws;
      for (const line of (answer.printed ?? '').match(/.*\n/g) ?? []) await onOutput(Buffer.from(line));
      return answer.result ?? exited(0);
    },
    killLeftover: async () => false,
    killStrays: async () => 0,
  };
  const diagnostics = commands.map((command) => ({ files: '*.ts', command: 'check', timeoutSecs: 7, ...command }));
  const tool = withDiagnostics(createWriteFileTool({ confinement: createConfinement({ home: fixture.home }) }), {
    runner,
    live: { diagnostics },
  });
  return {
    ...fixture,
    ran,
    async write(path: string) {
      const { output, outcome } = await execute(await tool.prepare({ path, content: 'x\n' }, fixture.context()));
      return { output, outcome };
    },
  };
}

const CREATED = "Created src/it's.ts (1 line).";

test('the commands for a changed file run without a network and without the right to write; their output follows the result', async () => {
  await using it = await start(
    [{ command: 'tsc "$@"' }, { files: '*.{py,rb}' }, { files: 'src/**', command: 'lint\nmore' }],
    { printed: 'src/a.ts(1,1): error\n', result: exited(2) },
  );
  assert.deepEqual(await it.write("src/it's.ts"), {
    output: `${CREATED}\n\n[diagnostics: tsc "$@": exit code 2]\nsrc/a.ts(1,1): error\n\n[diagnostics: lint: exit code 2]\nsrc/a.ts(1,1): error`,
    outcome: 'done',
  });
  assert.deepEqual(
    it.ran.map(({ command, timeoutMs, access, network, isOutside }) => [
      ...[command, timeoutMs, access, network, isOutside],
    ]),
    ['tsc "$@"', 'lint\nmore'].map((command) => [
      `set -- 'src/it'\\''s.ts'\n${command}`,
      7_000,
      { others: [], areOthersReadOnly: true, tier: 'read-only', writable: [] },
      undefined,
      undefined,
    ]),
  );
});

const endings: [title: string, answer: Answer, said: string][] = [
  ['no problems', {}, 'exit code 0; it printed nothing]'],
  [
    'a limit of time',
    { result: { kind: 'stopped', reason: new StopReason('timeout', '') } },
    'timed out after 7 s; it printed nothing]',
  ],
  ['a kill', { printed: 'half\n', result: { kind: 'killed', signal: 'SIGKILL' } }, 'ended by SIGKILL]\nhalf'],
  [
    'a command that cannot start',
    { result: { kind: 'failed', message: 'no bash' } },
    'could not be run: no bash; it printed nothing]',
  ],
  ['a fault', { throws: new Error('disk full') }, 'could not be run]'],
];
for (const [title, answer, said] of endings) {
  test(`the change is done whatever happens to the command: ${title}`, async () => {
    await using it = await start([{}], answer);
    assert.deepEqual(await it.write("src/it's.ts"), {
      output: `${CREATED}\n\n[diagnostics: check: ${said}`,
      outcome: 'done',
    });
  });
}

test('only the first lines of a long output are read', async () => {
  await using it = await start([{}], { printed: 'problem\n'.repeat(10_000), result: exited(1) });
  const lines = (await it.write('a.ts')).output.split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [2 + 1 + 60 + 1, '[cut, 80000 bytes]']);
});

test('without a sandbox nothing runs; a refused or failed change, and a file outside, are not looked at', async () => {
  await using without = await start([{}], {}, false);
  assert.match((await without.write('a.ts')).output, /\[diagnostics: check: not run, because there is no sandbox\]$/);
  await using it = await start([{}]);
  assert.equal((await it.write('../out.ts')).output, `Created ${it.root}/out.ts (1 line).`);
  assert.deepEqual([without.ran, it.ran], [[], []]);
});
