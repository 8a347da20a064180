import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { commandLinesWith } from '../../testing/command-lines.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { StopReason } from '../stop-reason.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import type { ProcessIdentity } from '../tools/tool.ts';
import { readProcessTable } from './process-table.ts';
import { identifyProcess } from './process-tree.ts';
import { BASH } from './program-fixture.ts';
import { createProcessRunner, type ProcessHooks, type RunnerOptions } from './runner.ts';

const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nowhere',
  OPENAI_API_KEY: 'canary',
  HEADGATE_HOME: 'canary',
};
const noSandbox = { kind: 'none', reason: 'a test', required: false } as const;
const common = { environment, sandbox: noSandbox, bash: BASH, ids: randomIds };

async function start(t: TestContext, options: Partial<RunnerOptions> = {}) {
  const cwd = await mkdtemp(join(tmpdir(), 'headgate-runner-'));
  const folder = await holdFolder(cwd);
  t.after(() => folder[Symbol.asyncDispose]().then(() => rm(cwd, { recursive: true, force: true })));
  const clock = options.clock ?? systemClock;
  const runner = createProcessRunner({ ...common, clock, home: cwd, ...options });
  const stop = new AbortController();
  t.after(() => stop.abort(new StopReason('shutdown', 'the test is over'))); // ends what a failed test left running
  let printed = '';
  const waiting = new Map<string, () => void>();
  const hooks: ProcessHooks = {
    signal: stop.signal,
    onProcess: async () => undefined,
    onOutput: async (bytes) => {
      printed += bytes.toString('utf8');
      for (const [text, resolve] of waiting) if (printed.includes(text)) resolve();
    },
  };
  return {
    ...{ cwd, folder, runner, stop, hooks },
    printed: () => printed,
    /** Resolves when the child has printed this text. */
    seen: (text: string) => new Promise<void>((resolve) => waiting.set(text, resolve)),
    run: (command: string, timeoutMs = 60_000) => runner.run({ command, folder, timeoutMs }, hooks),
  };
}

const findByWord = async (word: string): Promise<number[]> => (await commandLinesWith(word)).map(({ pid }) => pid);

/** Advances the time of a run that is being ended, while its processes end in real time. */
async function advanceUntil(running: Promise<unknown>, clock: ReturnType<typeof fakeClock>): Promise<void> {
  let isOver = false;
  const over = running.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(20);
  await over;
}

test('stdout and stderr arrive in the order written, followed by the exit code', async (t) => {
  const it = await start(t);
  const result = await it.run('echo one; echo two >&2; echo three; pwd; exit 3');
  assert.deepEqual([result, it.printed()], [{ kind: 'exited', exitCode: 3 }, `one\ntwo\nthree\n${it.cwd}\n`]);
});

test('a command gets no input', async (t) => {
  const it = await start(t);
  assert.deepEqual([await it.run('cat; echo done'), it.printed()], [{ kind: 'exited', exitCode: 0 }, 'done\n']);
});

test('a command that is given an input need not read it', async (t) => {
  const it = await start(t);
  const stdin = 'x'.repeat(1_000_000);
  for (const command of ['exit 3', 'wc -c'])
    await it.runner.run({ command, folder: it.folder, timeoutMs: 60_000, stdin }, it.hooks);
  assert.equal(it.printed().trim(), String(stdin.length));
});

test('a command sees only the allow-listed environment, even in its own environ file', async (t) => {
  const it = await start(t);
  await it.run('env; tr "\\0" "\\n" </proc/self/environ');
  const names = new Set(it.printed().match(/^\w+(?==)/gm));
  // Node itself adds the last one to every child when coverage is measured.
  for (const own of ['PWD', 'SHLVL', '_', 'OLDPWD', 'NODE_V8_COVERAGE']) names.delete(own);
  assert.match([...names].sort().join(), /^(GIT_CONFIG_\w+,){3}HEADGATE_COMMAND,HOME,PATH,TERM$/);
  assert.doesNotMatch(it.printed(), /canary/);
});

test('the shell reads no startup files', async (t) => {
  const it = await start(t);
  await writeFile(join(it.cwd, '.bashrc'), 'echo from bashrc');
  await writeFile(join(it.cwd, '.bash_profile'), 'echo from profile');
  const runner = createProcessRunner({
    ...common,
    clock: systemClock,
    environment: { ...environment, HOME: it.cwd, BASH_ENV: join(it.cwd, '.bashrc') },
    home: it.cwd,
  });
  await runner.run({ command: 'echo $-', folder: it.folder, timeoutMs: 10_000 }, it.hooks);
  assert.equal(it.printed(), 'hBc\n');
});

test('the command does nothing until its process is recorded', async (t) => {
  const it = await start(t);
  const recorded = Promise.withResolvers<void>();
  const told = Promise.withResolvers<ProcessIdentity>();
  it.hooks.onProcess = (identity) => {
    told.resolve(identity);
    return recorded.promise;
  };
  const running = it.run('echo $$; touch here; ls');
  const { mark, ...identity } = await told.promise;
  assert.match(mark ?? '', /^[0-9a-f]{16}\.cmd_/);
  assert.deepEqual(identity, identifyProcess(identity.pid));
  assert.equal(it.printed(), '');
  recorded.resolve();
  await running;
  assert.equal(it.printed(), `${identity.pid}\nhere\n`);
});

test('a command whose start cannot be recorded never runs', async (t) => {
  const it = await start(t);
  it.hooks.onProcess = async () => {
    throw new Error('disk full');
  };
  await assert.rejects(it.run('echo ran; touch here'), /disk full/);
  await assert.rejects(readFile(join(it.cwd, 'here')), { code: 'ENOENT' });
  assert.equal(it.printed(), '');
});

test('a command that is cancelled before it starts never runs', async (t) => {
  const it = await start(t);
  const reason = new StopReason('cancel', 'early');
  it.hooks.onProcess = async () => it.stop.abort(reason);
  assert.deepEqual([await it.run('echo ran'), it.printed()], [{ kind: 'stopped', reason }, '']);
  assert.deepEqual(await it.run('echo ran'), { kind: 'stopped', reason });
});

test('cancelling ends a tree that ignores SIGTERM', async (t) => {
  const it = await start(t);
  const reason = new StopReason('cancel', 'by a person');
  const running = it.run(
    `trap "" TERM; (trap "" TERM; exec sleep 987601) & (sleep 987601 & wait) & echo up; wait; wait`,
  );
  await it.seen('up\n');
  it.stop.abort(reason);
  assert.deepEqual(await running, { kind: 'stopped', reason });
  assert.deepEqual(await findByWord('987601'), []);
});

test('cancelling gives a command time to clean up', async (t) => {
  const clock = fakeClock();
  const it = await start(t, { clock });
  const running = it.run('trap "echo cleaning; exit" TERM; echo up; while :; do sleep 0.01; done');
  await it.seen('up\n');
  it.stop.abort(new StopReason('shutdown', 'going down'));
  await it.seen('cleaning\n');
  await advanceUntil(running, clock);
  assert.match(it.printed(), /cleaning\n$/);
});

test('cancelling reaches a child that started its own session', async (t) => {
  const it = await start(t);
  const running = it.run('setsid sleep 987602 & echo up; wait');
  await it.seen('up\n');
  it.stop.abort(new StopReason('cancel', 'by a person'));
  await running;
  assert.deepEqual(await findByWord('987602'), []);
});

test('a time limit ends the command', async (t) => {
  const clock = fakeClock();
  const it = await start(t, { clock });
  const running = it.run('echo $$; exec sleep 987603', 120_000);
  await it.seen('\n');
  const isAlive = async () => (await readProcessTable()).some(({ pid }) => pid === Number(it.printed()));
  await clock.advance(119_999);
  assert.equal(await isAlive(), true);
  await clock.advance(1);
  while (await isAlive()) await new Promise(setImmediate); // SIGTERM needs no clock
  await advanceUntil(running, clock);
  const result = await running;
  assert.equal(result.kind === 'stopped' && result.reason.kind, 'timeout');
});

test('background processes end with their command, even if they hold the output open', async (t) => {
  const it = await start(t);
  const result = await it.run('sleep 987604 & set -m; sleep 987604 & echo done');
  assert.deepEqual([result, it.printed()], [{ kind: 'exited', exitCode: 0 }, 'done\n']);
  assert.deepEqual(await findByWord('987604'), []);
});

test('a daemonized process ends with its command, even if it ignores SIGTERM', async (t) => {
  const it = await start(t);
  const result = await it.run(
    `(setsid bash -c "trap '' TERM; touch up; exec sleep 987608" &); until [ -e up ]; do sleep 0.01; done; echo done`,
  );
  assert.deepEqual([result, it.printed()], [{ kind: 'exited', exitCode: 0 }, 'done\n']);
  assert.deepEqual(await findByWord('987608'), []);
});

test('a child whose parent ended at SIGTERM is killed too', async (t) => {
  const it = await start(t);
  const running = it.run(`env -i setsid bash -c "trap '' TERM; echo up; exec sleep 987609" & wait`);
  await it.seen('up\n');
  it.stop.abort(new StopReason('cancel', 'by a person'));
  await running;
  assert.deepEqual(await findByWord('987609'), []);
});

test('a process that escaped and holds the output open does not delay the answer', async (t) => {
  const it = await start(t);
  const result = await it.run(
    '(env -i setsid bash -c "touch up; exec sleep 987605" &); until [ -e up ]; do sleep 0.01; done; echo done',
  );
  const escaped = await findByWord('987605');
  t.after(() => {
    for (const pid of escaped) process.kill(pid, 'SIGKILL');
  });
  assert.deepEqual([result, it.printed(), escaped.length], [{ kind: 'exited', exitCode: 0 }, 'done\n', 1]);
});

test('the result of a command killed by a signal names the signal', async (t) => {
  const it = await start(t);
  assert.deepEqual(await it.run('kill -9 $$'), { kind: 'killed', signal: 'SIGKILL' });
});

test('a slow reader slows down the child instead of filling memory', async (t) => {
  const it = await start(t);
  let bytes = 0;
  let concurrent = 0;
  it.hooks.onOutput = async (part) => {
    concurrent += 1;
    assert.equal(concurrent, 1);
    await new Promise(setImmediate);
    concurrent -= 1;
    bytes += part.length;
  };
  await it.run('head -c 50000000 /dev/zero');
  assert.equal(bytes, 50_000_000);
});

test('a reader that fails ends the command, and its error is passed on', async (t) => {
  const it = await start(t);
  it.hooks.onOutput = async () => {
    throw new Error('reader failed');
  };
  await assert.rejects(it.run('echo up; exec sleep 987606'), /reader failed/);
  assert.deepEqual(await findByWord('987606'), []);
});

test('a command that cannot be started returns a result', async (t) => {
  const it = await start(t);
  const folder = { ...it.folder, way: join(it.cwd, 'missing') };
  const result = await it.runner.run({ command: 'true', folder, timeoutMs: 1_000 }, it.hooks);
  assert.equal(result.kind, 'failed');
});

test('a leftover group is ended only if the pid is still the same process', async (t) => {
  const it = await start(t);
  const told = Promise.withResolvers<ProcessIdentity>();
  it.hooks.onProcess = async (identity) => told.resolve(identity);
  const running = it.run('echo up; sleep 987607 & wait');
  await it.seen('up\n');
  const { mark, ...identity } = await told.promise;
  assert.match(mark ?? '', /^[0-9a-f]{16}\.cmd_/);
  const later = createProcessRunner({
    ...common,
    clock: systemClock,
    home: it.cwd,
  });
  assert.equal(await later.killLeftover({ ...identity, startTicks: identity.startTicks + 1 }), false);
  assert.equal(await later.killLeftover({ ...identity, startTicks: 0 }), false);
  assert.equal((await findByWord('987607')).length > 0, true);
  assert.equal(await later.killLeftover(identity), true);
  assert.deepEqual([await running, await findByWord('987607')], [{ kind: 'killed', signal: 'SIGTERM' }, []]);
  assert.equal(await later.killLeftover(identity), false);
});

test('a daemonized leftover is found by its mark', async (t) => {
  const it = await start(t);
  const told = Promise.withResolvers<ProcessIdentity>();
  it.hooks.onProcess = async (identity) => told.resolve(identity);
  const running = it.run('(setsid sleep 987610 &); echo up; exec sleep 987611');
  await it.seen('up\n');
  const identity = await told.promise;
  const of = async (word: string) => (await findByWord(word)).length;
  while ((await of('987610')) === 0) await new Promise(setImmediate); // it may not have begun
  const elsewhere = { ...identity, pid: 2 ** 22 }; // as after its leader has ended
  assert.equal(await it.runner.killLeftover({ ...elsewhere, mark: 'cmd_other' }), false);
  assert.equal(await it.runner.killLeftover(elsewhere), true);
  assert.deepEqual([await of('987610'), await of('987611')], [0, 0]);
  await running;
});
