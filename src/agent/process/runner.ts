import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import type { Ids } from '../../ids.ts';
import { until } from '../../timing/until.ts';
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

/** Runs shell commands of the agent, each in a separate process group that has ended when `run` resolves. */
export interface ProcessRunner {
  readonly sandbox: Sandbox;
  /** The shell that runs the commands. Without it every command fails. */
  readonly bash: Program;
  /** The result of the command, as a value. Rejects only when a hook rejects; the command is ended by then. */
  run(command: ShellCommand, hooks: ProcessHooks): Promise<ProcessResult>;
  /** Ends what an earlier daemon left of a command; false if it is gone or the pid belongs to another process. */
  killLeftover(identity: ProcessIdentity): Promise<boolean>;
  /**
   * Ends what earlier daemons of this home left of any command, even of commands that had ended for them. Call it only
   * while no other daemon uses the home. Returns the number of processes.
   */
  killStrays(): Promise<number>;
}

interface ShellCommand {
  /** Passed to `bash -c`. */
  command: string;
  /** The command runs in this folder, even if another one lies at its path by then. */
  folder: HeldFolder;
  timeoutMs: number;
}

export interface ProcessHooks {
  signal: AbortSignal;
  /** The process group exists but waits: the command starts only after this has resolved. */
  onProcess(identity: ProcessIdentity): Promise<void>;
  /** Stdout and stderr, in the order written. The child waits while this is pending. */
  onOutput(bytes: Buffer): Promise<void>;
}

export type ProcessResult =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'killed'; signal: NodeJS.Signals }
  | { kind: 'stopped'; reason: StopReason }
  | { kind: 'failed'; message: string };

export interface RunnerOptions {
  clock: Clock;
  /** The daemon's environment; children get an allow-listed part. */
  environment: Environment;
  sandbox: Sandbox;
  bash: Program;
  /** Tracks every sandboxed command. */
  sandboxed?: SandboxedCommands | undefined;
  /** Further folders that agents write to, with links resolved. */
  workdirs?: readonly string[];
  ids: Pick<Ids, 'id'>;
  /** The home folder; distinguishes the commands of its daemons from others. */
  home: string;
}

/** The runner for this machine. */
export function createProcessRunner(options: RunnerOptions): ProcessRunner {
  const { clock, environment, sandbox, bash, sandboxed, ids, home } = options;
  const workdirs = new Set(options.workdirs);
  const machine: Machine = { clock, environment, sandbox, bash, sandboxed, workdirs, ids, home };
  return {
    sandbox,
    bash,
    run: (command, hooks) => runCommand(command, hooks, machine),
    async killLeftover(identity) {
      if (!(await isLeft(identity))) return false;
      await endTree(identity, { clock });
      return true;
    },
    killStrays: () => endMarked(markOf(home), { clock }),
  };
}

/** The beginning of the marks of a home's commands. */
const markOf = (home: string): string => `${createHash('sha256').update(home).digest('hex').slice(0, 16)}.`;

/**
 * Holds the command back until it reads a line, so that its start is on disk before it has any effect. If the daemon
 * dies first, the line never comes. The command gets no input and no inherited descriptors, which could lead out of the
 * sandbox. `last` is the highest descriptor that it keeps.
 */
const toGate = (last: number): string =>
  `for at in /dev/fd/*; do [ "\${at##*/}" -le ${last} ] || eval "exec \${at##*/}<&-"; done; ` +
  'IFS= read -r _ || exit 125; exec "$@" </dev/null 2>&1';
/** Without these options, bash takes Node's pipes for a network login and reads ~/.bashrc. */
const SHELL_OPTIONS = ['--noprofile', '--norc', '-c'] as const;

/** What every command runs with. */
interface Machine extends Omit<RunnerOptions, 'workdirs'> {
  /** Grows with every command, because a program planted by one command must not run in another. */
  workdirs: Set<string>;
}

async function runCommand(command: ShellCommand, hooks: ProcessHooks, machine: Machine): Promise<ProcessResult> {
  if (hooks.signal.aborted) return toStopped(hooks.signal.reason);
  const child = await startHeld(command, machine);
  if (!('leader' in child)) return child;
  const reading = readAll(child.output, hooks.onOutput);
  let failure: unknown;
  try {
    await until(hooks.onProcess(child.leader), hooks.signal);
    hooks.signal.throwIfAborted();
    child.openGate();
    using deadline = withDeadline(hooks.signal, { clock: machine.clock, ms: command.timeoutMs });
    await until(Promise.race([child.exited, reading.failed]), deadline.signal);
  } catch (error) {
    failure = error;
  }
  await endTree(child.leader, { clock: machine.clock, spares: sparedBy(child.leader, machine.sandbox) });
  machine.sandboxed?.end(child.leader.pid);
  child.input.destroy();
  await drain(reading, { output: child.output, clock: machine.clock });
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
  { sandbox, sandboxed, bash, workdirs, environment, ids, home }: Machine,
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
    // Before the first await, because a failed start is reported by an event.
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
  input.on('error', () => undefined); // it ended before its gate was opened; `exited` reports that
  stderr.resume(); // contains only messages of the gate shell
  return { input, output };
}

/** Refuses a folder in which a command could replace the programs that run the next one outside the sandbox. */
function requireOutside(workdir: string, programs: readonly string[]): void {
  const inside = programs.find((program) => isInside(workdir, program));
  if (inside !== undefined) throw new Error(`${inside} is needed to run commands, but lies in the working directory`);
}

interface Reading {
  /** Resolves at the end of the output, read or abandoned. */
  ended: Promise<void>;
  /** Rejects when the reader does; never resolves. */
  failed: Promise<never>;
  /** Counts the chunks read. `isBusy` is true while one is being handed over. */
  chunks(): number;
  isBusy(): boolean;
}

function readAll(output: Readable, onOutput: ProcessHooks['onOutput']): Reading {
  let chunks = 0;
  let isBusy = false;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // still rejects for everyone who awaits it
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
  const ended = read().catch(() => undefined); // destroyed by `drain`, or reported through `failed`
  return { ended, failed: failed.promise, chunks: () => chunks, isBusy: () => isBusy };
}

const DRAIN_QUIET_MS = 100;
const DRAIN_ROUNDS = 20;

/**
 * Waits for the end of the pipe. A process that left the group may still hold the pipe open; after some quiet rounds it
 * is closed.
 */
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

/** In a sandbox, ending the outer process or the first inner one would end everything else at once. */
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
