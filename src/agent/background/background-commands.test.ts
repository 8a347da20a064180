import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import type { ProcessHooks, ProcessResult } from '../process/runner.ts';
import { StopReason } from '../stop-reason.ts';
import { BACKGROUND_LIMITS } from './background-commands.ts';
import { backgroundFixture } from './background-fixture.ts';
import type { NewBackgroundCommand } from './background-run.ts';
import type { BackgroundRecords, StoredCommand } from './background-store.ts';

/** A command that does what the test says. */
function puppet(wsId = 'ws') {
  const over = Promise.withResolvers<ProcessResult>();
  let hooks: ProcessHooks | undefined;
  const command: NewBackgroundCommand = {
    ...{ wsId, callId: 'call_1', command: 'serve', timeoutMs: 60_000, taint: undefined },
    async run(given) {
      hooks = given;
      await given.onProcess({ pid: 1, startTicks: 1 });
      given.signal.addEventListener('abort', () => over.resolve({ kind: 'stopped', reason: given.signal.reason }));
      return over.promise;
    },
    refused: () => [],
  };
  return { command, print: async (text: string) => hooks?.onOutput(Buffer.from(text)), end: over.resolve };
}

function start(replace?: Partial<BackgroundRecords>) {
  const dir = tempDir();
  const outputs = path.join(dir.path, 'outputs');
  return { ...backgroundFixture(outputs, replace), outputs, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

async function startOne(it: ReturnType<typeof start>, one = puppet()) {
  const started = await it.background.start(one.command);
  assert.ok(started.kind === 'started');
  return { ...one, run: started.run };
}

const never = new AbortController().signal;

test('each reading shows what is new, and the file has all of it', async () => {
  using it = start();
  const { run, print, end } = await startOne(it);
  await print('one\n');
  assert.equal(run.takeNew(1_000), 'one\n');
  await print('two\n');
  await print('three\n');
  assert.equal(run.takeNew(1_000), 'two\nthree\n');
  assert.equal(run.takeNew(1_000), '');
  end({ kind: 'exited', exitCode: 0 });
  await run.ended;
  const { outputName = '', state } = run.stored;
  assert.equal(await readFile(path.join(it.outputs, outputName), 'utf8'), 'one\ntwo\nthree\n');
  assert.deepEqual(
    [state.state, state.end, state.exit_code, state.output_bytes, state.last_output],
    ['ended', 'exited', 0, 14, 'one\ntwo\nthree\n'],
  );
});

test('what a command leaves for programs outside the sandbox is named at the end of its output, also if it was stopped', async () => {
  using it = start();
  const planted = [{ kind: 'repository' as const, path: '/srv/app/sub/.git', why: 'core.fsmonitor' }];
  const ends: ProcessResult[] = [
    { kind: 'exited', exitCode: 0, planted },
    { kind: 'stopped', reason: new StopReason('timeout', ''), planted },
  ];
  for (const result of ends) {
    const { run, print, end } = await startOne(it);
    await print('made');
    end(result);
    await run.ended;
    assert.match(run.takeNew(2_000), /^made\n\[a new git repository names programs: \/srv\/app\/sub\/\.git \(core/);
  }
});

test('a command is cleaned before it is shortened, so that no part of a secret is shown', async () => {
  using it = start();
  const one = puppet();
  const secret = `ghp_${'a1B2c3D4e5'.repeat(3)}abcdef`;
  one.command.command = `echo ${'z'.repeat(1_980)} ${secret} ${'z'.repeat(100)}`;
  const { run } = await startOne(it, one);
  assert.equal(run.state.command, `echo ${'z'.repeat(1_980)} [REDACTED:api_ …`);
  await run.stop('killed');
});

test('a long reading shows both ends and where all of it is', async () => {
  using it = start();
  const { run, print } = await startOne(it);
  await print(`begin\n${'x'.repeat(200_000)}\nend\n`);
  const shown = run.takeNew(1_000);
  assert.ok(shown.startsWith('begin\n') && shown.endsWith('x\nend\n'), shown);
  assert.match(shown, new RegExp(`left out here; .* read_output with call_id "${run.id}" shows it to you`));
  await run.stop('killed');
});

test('a wait ends with a text that comes in pieces, with the end, with its time and with the run', async () => {
  using it = start();
  const { run, print } = await startOne(it);
  await print('list');
  const found = run.waitFor({ text: 'listening', ms: 60_000, signal: never });
  await print('ening');
  assert.equal(await found, 'found');
  assert.equal(await run.waitFor({ text: 'listening', ms: 60_000, signal: never }), 'found', 'it was not read yet');
  run.takeNew(1_000);
  assert.equal(await run.waitFor({ text: 'listening', ms: 1, signal: never }), 'time', 'it was read');
  const cancelled = new AbortController();
  const waiting = run.waitFor({ text: undefined, ms: 60_000, signal: cancelled.signal });
  cancelled.abort(new StopReason('cancel', 'over'));
  await assert.rejects(waiting, { kind: 'cancel' });
  const ended = run.waitFor({ text: 'never', ms: 60_000, signal: never });
  await run.stop('killed');
  assert.equal(await ended, 'ended');
});

test('nothing runs that cannot be stored', async () => {
  let wasRun = false;
  using it = start({ started: () => Promise.reject(new Error('disk full')) });
  const { command } = puppet();
  const started = await it.background.start({
    ...command,
    async run(hooks) {
      await hooks.onProcess({ pid: 1, startTicks: 1 });
      wasRun = true;
      return { kind: 'exited', exitCode: 0 };
    },
  });
  assert.deepEqual(started, { kind: 'refused', reason: 'The command could not be recorded, so it was not run.' });
  assert.deepEqual([wasRun, it.background.runningIn('ws')], [false, []]);
});

test('a command whose start was stored without a confirmation is stored as ended', async () => {
  const stored: StoredCommand[] = [];
  using it = start({
    async started(command) {
      stored.push(command);
      throw new Error('connection lost');
    },
    changed: async (command) => void stored.push(command),
  });
  const { kind } = await it.background.start(puppet().command);
  assert.equal(kind, 'refused');
  assert.deepEqual(
    stored.map(({ state, isTold }) => [state.state, state.end, isTold]),
    [
      ['running', undefined, false],
      ['ended', 'failed', true],
    ],
  );
});

test('an end that the store refuses is recorded later, and nobody waits for that', async () => {
  let refusals = 1;
  const recorded = Promise.withResolvers<string | undefined>();
  using it = start({
    async changed({ state }) {
      if (refusals-- > 0) throw new Error('disk full');
      recorded.resolve(state.end);
    },
  });
  const { run } = await startOne(it);
  await run.stop('cancelled');
  assert.equal(refusals, 0);
  assert.equal(await recorded.promise, 'cancelled');
});

test('a new conversation is not told of a command of the one before whose end could not be stored yet', async () => {
  let refusals = 1;
  const recorded = Promise.withResolvers<boolean>();
  using it = start({
    async changed({ isTold }) {
      if (refusals-- > 0) throw new Error('disk full');
      recorded.resolve(isTold);
    },
  });
  const { end, run } = await startOne(it);
  end({ kind: 'exited', exitCode: 0 });
  await run.ended;
  await it.background.endIn('ws', 'reset');
  assert.equal(await recorded.promise, true);
});

test('so many run in a workstream and in all, and ended ones count no longer', async () => {
  using it = start();
  const { perWorkstream, inAll } = BACKGROUND_LIMITS;
  for (let n = 0; n < inAll; n += 1) await startOne(it, puppet(`ws-${Math.floor(n / perWorkstream)}`));
  const own = await it.background.start(puppet('ws-0').command);
  assert.ok(own.kind === 'refused' && own.reason.startsWith(`${perWorkstream} background commands run in this`));
  const more = await it.background.start(puppet('ws-99').command);
  assert.ok(more.kind === 'refused' && more.reason.startsWith(`${inAll} background commands run on this machine`));
  await it.background.endIn('ws-0', 'closed');
  assert.equal((await startOne(it, puppet('ws-0'))).run.isRunning, true);
  await it.background.close();
  const late = await it.background.start(puppet('ws-0').command);
  assert.deepEqual(late, { kind: 'refused', reason: 'Headgate is shutting down.' });
  assert.deepEqual(new Set(it.told.map(({ state }) => state.end)), new Set([undefined, 'closed', 'shutdown']));
});

test('a command belongs to its workstream', async () => {
  using it = start();
  const { run } = await startOne(it);
  assert.equal(it.background.find('other', run.id), undefined);
  assert.equal(await it.background.read('other', run.id), undefined);
  assert.equal(it.background.find('ws', run.id), run);
  await run.stop('killed');
});
