import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import type { Ids } from '../../ids.ts';
import { until } from '../../until.ts';
import { StopReason } from '../stop-reason.ts';
import { isInside } from '../tools/files/confinement.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import type { ProcessIdentity } from '../tools/tool.ts';
import { withDeadline } from './deadline.ts';
import { toChildEnvironment } from './environment.ts';
import { toMarkVariable } from './process-mark.ts';
import { endMarked, endTree, identifyProcess, isLeft } from './process-tree.ts';
import { type Program, whyNot } from './programs.ts';
import { passFilter, type Sandbox } from './sandbox.ts';
import type { SandboxedCommands } from './sandboxed-commands.ts';

/** Runs shell commands of the agent, each in its own process group that is gone when `run` resolves. */
export interface ProcessRunner {
  readonly sandbox: Sandbox;
  /** What runs the commands. Without one every command fails. */
  readonly bash: Program;
  /** What the command does is a value; rejects only when a hook does, and then nothing runs any more. */
  run(command: ShellCommand, hooks: ProcessHooks): Promise<ProcessResult>;
  /** Ends what an earlier daemon left of a command; false if it is gone already or the pid is another process now. */
  killLeftover(identity: ProcessIdentity): Promise<boolean>;
  /**
   * Ends what earlier daemons of this home left of any command, also of one that was over for them already. Only while no
   * other daemon has the home. Answers how many processes that were.
   */
  killStrays(): Promise<number>;
}

interface ShellCommand {
  /** For `bash -c`. */
  command: string;
  /** Where it runs, whatever lies at the folder's path by then. */
  folder: HeldFolder;
  timeoutMs: number;
}

export interface ProcessHooks {
  signal: AbortSignal;
  /** The group exists and waits: the command starts only when this has resolved. */
  onProcess(identity: ProcessIdentity): Promise<void>;
  /** Both outputs in the order they were written; the child waits while this is pending. */
  onOutput(bytes: Buffer): Promise<void>;
}

export type ProcessResult =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'killed'; signal: NodeJS.Signals }
  | { kind: 'stopped'; reason: StopReason }
  | { kind: 'failed'; message: string };

export interface RunnerOptions {
  clock: Clock;
  /** The daemon's own; children get an allow-listed part. */
  environment: Environment;
  sandbox: Sandbox;
  bash: Program;
  /** Told of every command in a sandbox. */
  sandboxed?: SandboxedCommands;
  /** Folders, besides those of its commands, that agents write to, with links resolved. */
  workdirs?: readonly string[];
  ids: Pick<Ids, 'id'>;
  /** The home: tells the commands of its daemons from those of others. */
  home: string;
}

/** The runner for this machine. */
export function createProcessRunner(options: RunnerOptions): ProcessRunner {
  const { sandbox, bash } = options;
  const workdirs = new Set(options.workdirs);
  return {
    sandbox,
    bash,
    run: (command, hooks) => runCommand(command, hooks, { ...options, workdirs }),
    async killLeftover(identity) {
      if (!(await isLeft(identity))) return false;
      await endTree(identity, options);
      return true;
    },
    killStrays: () => endMarked(markOf(options.home), options),
  };
}

/** How the marks of a home's commands begin. */
const markOf = (home: string): string => `${createHash('sha256').update(home).digest('hex').slice(0, 16)}.`;

/**
 * Holds the command back until a line comes in, so that the start is on disk before anything happens; when the daemon dies
 * first, the line never comes and nothing happens. The command itself gets no input, and none of the descriptors that the
 * daemon may have inherited: they could lead out of the sandbox. `last` is the highest one that it is given.
 */
const toGate = (last: number): string =>
  `for at in /dev/fd/*; do [ "\${at##*/}" -le ${last} ] || eval "exec \${at##*/}<&-"; done; ` +
  'IFS= read -r _ || exit 125; exec "$@" </dev/null 2>&1';
/** Without these, bash takes Node's pipes for a network login and reads ~/.bashrc. */
const SHELL_OPTIONS = ['--noprofile', '--norc', '-c'] as const;

interface RunOptions extends Omit<RunnerOptions, 'workdirs'> {
  /** Grows with every command: what one plants must not run in another. */
  workdirs: Set<string>;
}

async function runCommand(command: ShellCommand, hooks: ProcessHooks, options: RunOptions): Promise<ProcessResult> {
  if (hooks.signal.aborted) return toStopped(hooks.signal.reason);
  const child = await startHeld(command, options);
  if (!('leader' in child)) return child;
  const reading = readAll(child.output, hooks.onOutput);
  let failure: unknown;
  try {
    await until(hooks.onProcess(child.leader), hooks.signal);
    hooks.signal.throwIfAborted();
    child.openGate();
    using deadline = withDeadline(hooks.signal, { clock: options.clock, ms: command.timeoutMs });
    await until(Promise.race([child.exited, reading.failed]), deadline.signal);
  } catch (error) {
    failure = error;
  }
  await endTree(child.leader, { clock: options.clock, spares: sparedBy(child.leader, options.sandbox) });
  options.sandboxed?.end(child.leader.pid);
  child.input.destroy();
  await drain(reading, { output: child.output, clock: options.clock });
  if (failure === undefined) return child.exited;
  if (failure instanceof StopReason || hooks.signal.aborted) return toStopped(failure);
  throw failure;
}

interface HeldChild {
  input: Writable;
  leader: ProcessIdentity;
  output: Readable;
  exited: Promise<ProcessResult>;
  openGate(): void;
}

async function startHeld(
  { command, folder }: ShellCommand,
  { sandbox, sandboxed, bash, workdirs, environment, ids, home }: RunOptions,
): Promise<HeldChild | ProcessResult> {
  try {
    if (bash.kind !== 'found') throw new Error(`bash ${whyNot(bash)}`);
    const shell = [bash.path, ...SHELL_OPTIONS];
    const inner = [...shell, command];
    const { argv, fds } = sandbox.kind === 'bubblewrap' ? await sandbox.wrap(inner, folder) : { argv: inner, fds: [] };
    if (sandbox.kind === 'bubblewrap') requireOutside(folder.path, [bash.path, argv[0] ?? '']);
    workdirs.add(folder.path);
    const mark = `${markOf(home)}${ids.id('cmd')}`;
    const env = { ...(await toChildEnvironment(environment, [...workdirs])), ...toMarkVariable(mark) };
    const stdio = ['pipe', 'pipe', 'pipe', sandbox.kind === 'bubblewrap' ? 'pipe' : 'ignore', ...fds] as const;
    const child = spawn(bash.path, [...SHELL_OPTIONS, toGate(stdio.length - 1), 'headgate', ...argv], {
      cwd: folder.way,
      env,
      detached: true, // its own session and process group
      stdio: [...stdio],
    });
    // Before the first await: a failed start is told by an event.
    const exited = new Promise<ProcessResult>((resolve) => {
      child.on('error', (error) => resolve(toFailed(error, folder.path)));
      child.on('exit', (code, signal) =>
        resolve(signal ? { kind: 'killed', signal } : { kind: 'exited', exitCode: code ?? 0 }),
      );
    });
    const { input, output } = openPipes(child);
    if (child.pid === undefined) return exited;
    if (sandbox.kind === 'bubblewrap') {
      passFilter(child, sandbox.filter);
      sandboxed?.begin(child.pid);
    }
    const leader = { ...(await identifyProcess(child.pid)), mark };
    return { input, leader, output, exited, openGate: () => input.end('\n') };
  } catch (error) {
    return toFailed(error, folder.path);
  }
}

function openPipes({ stdin: input, stdout: output, stderr }: ChildProcess): { input: Writable; output: Readable } {
  if (input === null || output === null || stderr === null) throw new Error('its pipes could not be opened');
  input.on('error', () => undefined); // it ended before its gate was opened: `exited` tells
  stderr.resume(); // only the gate shell's own complaints
  return { input, output };
}

/** A command could replace what runs the next one outside the sandbox. */
function requireOutside(workdir: string, programs: readonly string[]): void {
  const inside = programs.find((program) => isInside(workdir, program));
  if (inside !== undefined) throw new Error(`${inside} runs the commands and lies in the working directory`);
}

interface Reading {
  /** Resolves at the end of the output, whether it was read or given up. */
  ended: Promise<void>;
  /** Rejects when the reader does, and never resolves. */
  failed: Promise<never>;
  /** Grows with every piece that was read; `isBusy` while one is being handed over. */
  chunks(): number;
  isBusy(): boolean;
}

function readAll(output: Readable, onOutput: ProcessHooks['onOutput']): Reading {
  let chunks = 0;
  let isBusy = false;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // whoever still waits for it is told
  const read = async () => {
    for await (const bytes of output) {
      chunks += 1;
      isBusy = true;
      await onOutput(bytes).catch((error) => {
        failed.reject(error);
        throw error;
      });
      isBusy = false;
    }
  };
  const ended = read().catch(() => undefined); // destroyed by `drain`, or told through `failed`
  return { ended, failed: failed.promise, chunks: () => chunks, isBusy: () => isBusy };
}

const DRAIN_QUIET_MS = 100;
const DRAIN_ROUNDS = 20;

/** The group is gone, so the pipe's end is near, unless a process that left the group still holds it: then we let go. */
async function drain(reading: Reading, { output, clock }: { output: Readable; clock: Clock }): Promise<void> {
  let seen = -1;
  let isOver = false;
  const over = reading.ended.then(() => {
    isOver = true;
  });
  for (let round = 0; round < DRAIN_ROUNDS && !isOver && (reading.isBusy() || seen !== reading.chunks()); round += 1) {
    seen = reading.chunks();
    const waited = new AbortController();
    await Promise.race([over, clock.sleep(DRAIN_QUIET_MS, waited.signal).catch(() => undefined)]); // aborted just below
    waited.abort();
  }
  output.destroy();
  await over;
}

/** In a sandbox the outer process and the first one inside would take everything with them at once. */
function sparedBy(leader: ProcessIdentity, sandbox: Sandbox) {
  return (row: { pid: number; parent: number }) =>
    sandbox.kind === 'bubblewrap' && (row.pid === leader.pid || row.parent === leader.pid);
}

function toStopped(reason: unknown): ProcessResult {
  return {
    kind: 'stopped',
    reason: reason instanceof StopReason ? reason : new StopReason('cancel', String(reason)),
  };
}

function toFailed(error: unknown, path: string): ProcessResult {
  const message = wordsOf(error);
  return { kind: 'failed', message: `The command could not be started in ${path}: ${message}` };
}
