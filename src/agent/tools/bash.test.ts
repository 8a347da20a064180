import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RefusedHost } from '../../../protocol/events/command-result.ts';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { backgroundFixture } from '../background/background-fixture.ts';
import { testGuard } from '../guard/guard-fixture.ts';
import type { Message } from '../message.ts';
import { BASH } from '../process/program-fixture.ts';
import { createProcessRunner, type ProcessResult, type ProcessRunner } from '../process/runner.ts';
import type { Sandbox } from '../process/sandbox.ts';
import { StopReason } from '../stop-reason.ts';
import { createBashTool } from './bash.ts';
import type { HostRules, ToolOutcome } from './tool.ts';
import { createToolFixture, execute, recordRun, toShown } from './tool-fixture.ts';

const noSandbox: Sandbox = { kind: 'none', reason: 'bubblewrap is not installed', required: false };
const BOX: Sandbox = {
  kind: 'bubblewrap',
  filter: Buffer.alloc(0),
  required: false,
  wrap: async (argv, { workdir }) => ({ argv: [...argv], fds: [], cwd: workdir.way, release: async () => undefined }),
};
const ids = { wsId: () => 'ws', id: (prefix: string) => `${prefix}_1`, secret: () => '' };
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

interface Around {
  live?: Parameters<typeof createBashTool>[0]['live'];
  history?: readonly Message[];
  hosts?: HostRules;
}

async function start(sandbox: Sandbox = noSandbox, replace?: Partial<ProcessRunner>, around: Around = {}) {
  const fixture = await createToolFixture();
  const runner = {
    ...createProcessRunner({
      clock: systemClock,
      environment,
      sandbox,
      bash: BASH,
      ids: randomIds,
      home: fixture.home,
    }),
    ...replace,
  };
  const { live, history, hosts } = around;
  const outputs = join(fixture.home, 'outputs');
  const { background } = backgroundFixture(outputs);
  const tool = createBashTool({ runner, outputs, ids, guard: testGuard(), background, ...(live && { live }) });
  const context = { ...fixture.context(history), ...(hosts && { hosts }) };
  return {
    ...fixture,
    prepare: (args: { command: string; timeout_secs?: number; sandbox?: string; reason?: string }) =>
      tool.prepare(tool.parameters.parse(args), context),
  };
}

test('a command always needs approval and is shown whole, and the approval covers a run without the sandbox', async () => {
  await using it = await start();
  assert.deepEqual(toShown(await it.prepare({ command: 'npm test\necho done' })), {
    kind: 'ready',
    subject: 'npm test …',
    preview: 'npm test\necho done',
    approvalLabel: 'bash',
    needsApproval: true,
    effects: {
      list: [
        { kind: 'write', target: '~/.cache', certain: false },
        { kind: 'write', target: '.', certain: true },
        { kind: 'network', certain: false },
        { kind: 'unknown', target: 'npm test', certain: false },
      ],
    },
    bindTo: 'sandbox:none',
  });
});

test('in a sandbox the preview is the command, and the approval is valid only for the sandbox', async () => {
  await using it = await start(BOX);
  const shown = toShown(await it.prepare({ command: 'ls' }));
  assert.deepEqual(shown.kind === 'ready' && [shown.subject, shown.preview, shown.bindTo], [
    'ls',
    'ls',
    'sandbox:bubblewrap',
  ]);
});

test('a command leaves the sandbox only with a reason, and not where that is forbidden', async () => {
  const off = { command: 'docker ps', sandbox: 'off', reason: 'a\u202e socket' };
  const live = { commandTimeoutSecs: 5, backgroundMaxSecs: 60, sandboxTier: 'read-only', allowedHosts: [] } as const;
  await using it = await start(BOX);
  const shown = toShown(await it.prepare(off));
  assert.deepEqual(shown.kind === 'ready' && [shown.sandboxOff, shown.bindTo], ['a\\u202e socket', 'sandbox:off']);
  await using required = await start({ ...BOX, required: true });
  await using readOnly = await start(BOX, undefined, { live });
  const refused = await Promise.all([
    it.prepare({ ...off, reason: ' ' }),
    required.prepare(off),
    readOnly.prepare(off),
  ]);
  assert.deepEqual(
    refused.map((each) => each.kind === 'refused' && each.reason),
    [
      'A command that runs outside the sandbox needs a reason, which the person reads.',
      'Commands require the sandbox here (tools.sandbox is "required"), so none runs outside it.',
      'Commands change nothing here (tools.tier is "read-only"), so none runs outside the sandbox.',
    ],
  );
  assert.throws(() => void it.prepare({ ...off, sandbox: 'workspace' }), /sandbox/);
});

test('hosts that the same command could not reach are effects of the next attempt, while somebody can be asked', async () => {
  const command = './build';
  const attempt = (id: string, text: string, ...hosts: RefusedHost[]): Message[] => [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'bash', arguments: JSON.stringify({ command: text }) }] },
    { role: 'tool', callId: id, name: 'bash', output: '', outcome: 'failed', refusedHosts: hosts },
  ];
  const refused = (host: string, reason: RefusedHost['reason'] = 'not_allowed') => ({ host, port: 443, reason });
  const history = [
    ...attempt('a', command, refused('one.example'), refused('10.0.0.1', 'address'), refused('no.example', 'rule')),
    ...attempt('b', command, refused('two.example'), refused('set.example'), refused('denied.example')),
    ...attempt('c', `${command} x`, refused('three.example')),
    ...attempt('d', command, refused('[a secret].example')),
  ];
  const live = {
    commandTimeoutSecs: 5,
    backgroundMaxSecs: 60,
    sandboxTier: 'workspace',
    allowedHosts: ['set.example'],
  } as const;
  const ruleOn: HostRules['ruleOn'] = (_, host) =>
    host === 'denied.example' ? { action: 'deny', ruleId: 'r' } : undefined;
  const hostsOf = async (canAsk: boolean, args: { command: string; sandbox?: string; reason?: string }) => {
    await using it = await start(BOX, undefined, { history, live, hosts: { canAsk, ruleOn } });
    const prepared = await it.prepare(args);
    assert.equal(prepared.kind, 'ready');
    const effects = prepared.kind === 'ready' ? prepared.reading?.effects : undefined;
    return effects?.flatMap(({ kind, target, isUnreached }) => (kind === 'network' && isUnreached ? [target] : []));
  };
  assert.deepEqual(await hostsOf(true, { command }), ['one.example', 'two.example']);
  assert.deepEqual(await hostsOf(true, { command: `${command} ` }), []);
  assert.deepEqual(await hostsOf(false, { command }), []);
  assert.deepEqual(await hostsOf(true, { command, sandbox: 'off', reason: 'x' }), []);
});

test('the limit that ended a command is data of the outcome', async () => {
  const limits = { processes: 5, memoryBytes: 2 ** 20, fileBytes: 2 ** 20 };
  const ended = async (result: ProcessResult) => {
    await using it = await start(noSandbox, { limits, run: async () => result });
    const { limit, output } = await execute(await it.prepare({ command: 'x' }));
    return [limit, output.split('\n').at(-1)];
  };
  assert.deepEqual(await ended({ kind: 'killed', signal: 'SIGKILL', limit: 'memory' }), [
    'memory',
    '[ended because of the limit of 1 MiB of memory for one command]',
  ]);
  assert.deepEqual(await ended({ kind: 'exited', exitCode: 153 }), [
    'file_size',
    '[a file reached the limit of 1 MiB]',
  ]);
});

test('commands are refused if a required sandbox is missing', async () => {
  await using it = await start({ ...noSandbox, required: true });
  assert.deepEqual(await it.prepare({ command: 'ls' }), {
    kind: 'refused',
    subject: 'ls',
    reason: 'Commands require a sandbox here, and none is available: bubblewrap is not installed.',
  });
});

test('the outcome has the output, which is also streamed, and how the command ended', async () => {
  await using it = await start();
  const run = recordRun();
  assert.deepEqual(await execute(await it.prepare({ command: 'pwd; echo oops >&2; exit 2' }), run), {
    output: `${it.workdir}\noops\n[exit code: 2]`,
    outcome: 'failed',
    exitCode: 2,
  });
  assert.equal(run.chunks.join(''), `${it.workdir}\noops\n`);
});

test('success adds no text, unless there was no output', async () => {
  await using it = await start();
  assert.deepEqual(await execute(await it.prepare({ command: 'echo hi' })), {
    ...{ output: 'hi\n', outcome: 'done', exitCode: 0 },
  });
  assert.deepEqual(await execute(await it.prepare({ command: 'true' })), {
    ...{ output: '[no output]', outcome: 'done', exitCode: 0 },
  });
});

test('each way to end has its own last line', async () => {
  const endings: [ProcessResult, string, ToolOutcome['outcome']?][] = [
    [{ kind: 'stopped', reason: new StopReason('timeout', '') }, '[timed out after 7 s]'],
    [{ kind: 'stopped', reason: new StopReason('cancel', '') }, '[cancelled]', 'cancelled'],
    [{ kind: 'stopped', reason: new StopReason('shutdown', '') }, '[stopped by shutdown]', 'cancelled'],
    [{ kind: 'killed', signal: 'SIGSEGV' }, '[killed by SIGSEGV]'],
    [{ kind: 'failed', message: 'No bash.' }, '[No bash.]'],
  ];
  for (const [result, ending, outcome = 'failed'] of endings) {
    await using it = await start(noSandbox, {
      run: async (_command, { onOutput }) => {
        await onOutput(Buffer.from('partial'));
        return result;
      },
    });
    const ended = await execute(await it.prepare({ command: 'x', timeout_secs: 7 }));
    assert.deepEqual(ended, { output: `partial\n${ending}`, outcome });
  }
});

test('a real command that is cancelled keeps what it had printed', async () => {
  await using it = await start();
  const stop = new AbortController();
  const run = recordRun(stop.signal);
  run.onOutput = () => stop.abort(new StopReason('cancel', 'by a person'));
  assert.deepEqual(await execute(await it.prepare({ command: 'echo up; exec sleep 600' }), run), {
    output: 'up\n[cancelled]',
    outcome: 'cancelled',
  });
});

test('fifty megabytes of output give a bounded outcome, and a file with all of it', async () => {
  await using it = await start();
  const run = recordRun();
  const { output, kept } = await execute(
    await it.prepare({ command: 'head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last' }),
    run,
  );
  assert.ok(output.length < 66_000);
  assert.match(
    output,
    /left out here; the whole output is stored for people as outputs\/out_1\.log; read_output with call_id "call-1" shows it to you \.\.\.\]\nx+\nlast\n$/,
  );
  assert.ok(run.chunks.join('').length < 66_000);
  assert.equal((await readFile(join(it.home, 'outputs/out_1.log'))).length, 50_000_006);
  assert.deepEqual(kept, { name: 'out_1.log', bytes: 50_000_006 });
});

test('the time limit is within bounds', async () => {
  await using it = await start();
  for (const timeout_secs of [0, 601, 1.5]) {
    assert.throws(() => void it.prepare({ command: 'ls', timeout_secs }), /timeout_secs/);
  }
});
