import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { EgressProxy } from '../../egress/proxy/egress-proxy.ts';
import type { Environment } from '../../environment.ts';
import type { Ids } from '../../ids.ts';
import { until } from '../../timing/until.ts';
import type { NetworkClient } from '../sandbox/command-network.ts';
import { type CommandTrace, toTrace } from '../sandbox/command-trace.ts';
import type { ExceededLimit, LimitedCommand, Limiter, Limits } from '../sandbox/limits/limits.ts';
import { receiveListeners } from '../sandbox/network/way-out.ts';
import type { PlantedPath } from '../sandbox/protected-paths.ts';
import { StopReason } from '../stop-reason.ts';
import { isInside } from '../tools/files/confinement.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import type { ProcessIdentity } from '../tools/tool.ts';
import { withDeadline } from './deadline.ts';
import { toChildEnvironment } from './environment.ts';
import { type Dialogue, endAtGate, openPipes, toGate, toGateInput, toStreams } from './gate.ts';
import { createLifeline, type Lifeline } from './lifeline.ts';
import { toMarkVariable } from './process-mark.ts';
import { endMarked, endTree, identifyProcess, isLeft } from './process-tree.ts';
import { drain, readAll } from './program-output.ts';
import { type Program, whyNot } from './programs.ts';
import { type CommandAccess, passFilter, type Sandbox, type Wrapped } from './sandbox.ts';

/** Runs shell commands of the agent, each in a separate process group that has ended when `run` resolves. */
export interface ProcessRunner {
  readonly sandbox: Sandbox;
  /** Of each command; undefined: none. */
  readonly limits?: Limits | undefined;
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

type Access = Pick<CommandAccess, 'others' | 'areOthersReadOnly' | 'tier' | 'writable'>;

/** One command and what it runs with. */
export interface ShellCommand {
  /** Passed to `bash -c`. */
  command: string;
  /** The command runs in this folder, even if another one lies at its path by then. */
  folder: HeldFolder;
  timeoutMs: number;
  /** Its standard input; undefined: none. */
  stdin?: string;
  /** Set to talk with it while it runs; `stdin` is ignored then, and `onOutput` receives stdout alone. */
  dialogue?: Dialogue;
  /** Variables that it gets besides those of every command. */
  variables?: Readonly<Record<string, string>>;
  /** It runs outside the sandbox, because a person allowed that for this call. */
  isOutside?: boolean;
  /** In the sandbox, besides the folder; nothing else by default. */
  access?: Access;
  /** Decides which hosts it reaches from the sandbox; undefined: it has no network. */
  network?: NetworkClient | undefined;
}

export interface ProcessHooks {
  signal: AbortSignal;
  /** The process group exists but waits: the command starts only after this has resolved. */
  onProcess(identity: ProcessIdentity): Promise<void>;
  /** Stdout and stderr, in the order written. The child waits while this is pending. */
  onOutput(bytes: Buffer): Promise<void>;
}

export type ProcessResult =
  | ({ kind: 'exited'; exitCode: number } & CommandTrace)
  | ({ kind: 'killed'; signal: NodeJS.Signals } & CommandTrace)
  | ({ kind: 'stopped'; reason: StopReason } & Pick<CommandTrace, 'planted'>)
  | { kind: 'failed'; message: string };

export interface RunnerOptions {
  clock: Clock;
  /** The daemon's environment; children get an allow-listed part. */
  environment: Environment;
  sandbox: Sandbox;
  bash: Program;
  /** Without it, only the disk and the machine limit commands. */
  limiter?: Limiter | undefined;
  /** Without it, sandboxed commands have no network. */
  proxy?: EgressProxy | undefined;
  /** Further folders that agents write to, with links resolved. */
  workdirs?: readonly string[];
  ids: Pick<Ids, 'id'>;
  /** The home folder; distinguishes the commands of its daemons from others. */
  home: string;
}

/** The runner for this machine. */
export function createProcessRunner(options: RunnerOptions): ProcessRunner {
  const { clock, environment, sandbox, bash, limiter, proxy, ids, home } = options;
  const workdirs = new Set(options.workdirs);
  const lifeline = createLifeline(bash);
  const inside: Machine = { clock, environment, sandbox, bash, limiter, proxy, workdirs, ids, home, lifeline };
  const outside: Machine = { ...inside, sandbox: OUTSIDE };
  return {
    sandbox,
    limits: limiter?.limits,
    bash,
    run: (command, hooks) => runCommand(command, hooks, command.isOutside ? outside : inside),
    async killLeftover(identity) {
      if (!(await isLeft(identity))) return false;
      await endTree(identity, { clock });
      return true;
    },
    killStrays: () => endMarked(markOf(home), { clock }),
  };
}

const OUTSIDE: Sandbox = { kind: 'none', reason: 'a person allowed the command without it', required: false };

/** The beginning of the marks of a home's commands. */
const markOf = (home: string): string => `${createHash('sha256').update(home).digest('hex').slice(0, 16)}.`;

/** Without these options, bash takes Node's pipes for a network login and reads ~/.bashrc. */
const SHELL_OPTIONS = ['--noprofile', '--norc', '-c'] as const;

/** What every command runs with. */
interface Machine extends Omit<RunnerOptions, 'workdirs'> {
  /** Grows with every command, because a program planted by one command must not run in another. */
  workdirs: Set<string>;
  lifeline: Lifeline;
}

async function runCommand(command: ShellCommand, hooks: ProcessHooks, machine: Machine): Promise<ProcessResult> {
  if (hooks.signal.aborted) return toStopped(hooks.signal.reason);
  const child = await startHeld(command, machine);
  if (!('leader' in child)) return child;
  const reading = readAll(child.output, hooks.onOutput);
  let failure: unknown;
  let exceeded: ExceededLimit | undefined;
  try {
    await until(hooks.onProcess(child.leader), hooks.signal);
    hooks.signal.throwIfAborted();
    child.openGate();
    using deadline = withDeadline(hooks.signal, { clock: machine.clock, ms: command.timeoutMs });
    const over = child.limited?.exceeded.then((limit) => {
      exceeded = limit;
    });
    const ends = [child.exited, reading.failed, over].filter((end) => end !== undefined);
    await until(Promise.race(ends), deadline.signal);
  } catch (error) {
    failure = error;
  }
  await endTree(child.leader, { clock: machine.clock, spares: sparedBy(child.leader, machine.sandbox) });
  child.input.destroy();
  await drain(reading, { output: child.output, clock: machine.clock });
  const limit = exceeded ?? (await child.limited?.end());
  if (exceeded !== undefined) await child.limited?.end();
  const planted = await child.findPlanted().catch(() => []); // the folder is gone
  await child.release();
  if (failure === undefined) return withTrace(await child.exited, toTrace(limit, planted));
  if (failure instanceof StopReason || hooks.signal.aborted)
    return { ...toStopped(failure), ...toTrace(undefined, planted) };
  throw failure;
}

const withTrace = (result: ProcessResult, trace: CommandTrace): ProcessResult =>
  result.kind === 'exited' || result.kind === 'killed' ? { ...result, ...trace } : result;

interface HeldChild {
  input: Writable;
  leader: ProcessIdentity;
  output: Readable;
  exited: Promise<ProcessResult>;
  limited: LimitedCommand | undefined;
  openGate(): void;
  findPlanted(): Promise<PlantedPath[]>;
  /** Takes away what was made for it. */
  release(): Promise<void>;
}

async function startHeld(command: ShellCommand, machine: Machine): Promise<HeldChild | ProcessResult> {
  const { folder } = command;
  const after = new AsyncDisposableStack();
  try {
    const started = await spawnHeld(command, machine, after);
    if ('kind' in started) await after.disposeAsync();
    return started;
  } catch (error) {
    await after.disposeAsync();
    return toFailed(error, folder.path);
  }
}

async function spawnHeld(
  { command, folder, access = BARE, network, stdin, dialogue, variables }: ShellCommand,
  { sandbox, limiter, proxy, bash, workdirs, environment, ids, home, lifeline }: Machine,
  after: AsyncDisposableStack,
): Promise<HeldChild | ProcessResult> {
  if (bash.kind !== 'found') throw new Error(`bash ${whyNot(bash)}`);
  const shell = [bash.path, ...SHELL_OPTIONS];
  const inner = [...shell, command];
  const isSandboxed = sandbox.kind === 'bubblewrap';
  const way = isSandboxed && network !== undefined && proxy !== undefined ? { network, proxy } : undefined;
  const wrapped = await wrap(inner, { sandbox, folder, access, localPorts: way && (way.network.localPorts ?? []) });
  after.defer(wrapped.release);
  if (isSandboxed) requireOutside(folder.path, [bash.path, ...wrapped.argv.slice(0, 1)]);
  workdirs.add(folder.path);
  const mark = `${markOf(home)}${ids.id('cmd')}`;
  const env = { ...(await toChildEnvironment(environment, [...workdirs])), ...variables, ...toMarkVariable(mark) };
  const stdio = ['pipe', 'pipe', 'pipe', isSandboxed ? 'pipe' : 'ignore', ...wrapped.fds] as const;
  const channel = way ? (['ipc'] as const) : [];
  const gate = toGate(stdio.length + channel.length - 1, limiter?.limits.fileBytes, toStreams({ stdin, dialogue }));
  const child = spawn(bash.path, [...SHELL_OPTIONS, gate, 'headgate', ...wrapped.argv], {
    cwd: wrapped.cwd,
    env,
    detached: true, // its own session and process group
    stdio: [...stdio, ...channel],
  });
  // Before the first await, because a failed start is reported by an event.
  const exited = new Promise<ProcessResult>((resolve) => {
    child.on('error', (error) => resolve(toFailed(error, folder.path)));
    child.on('exit', (code, signal) =>
      resolve(signal ? { kind: 'killed', signal } : { kind: 'exited', exitCode: code ?? 0 }),
    );
  });
  after.defer(() => endAtGate(child)); // whatever goes wrong before it is handed out
  const { input, output } = openPipes(child, dialogue);
  if (child.pid === undefined) return exited;
  if (isSandboxed) passFilter(child, sandbox.filter);
  if (way) {
    receiveListeners(child, (listener, localPort) => {
      const { network: client } = way;
      after.use(
        localPort === undefined ? way.proxy.serve(listener, client) : way.proxy.lead(listener, localPort, client),
      );
    });
  }
  const leader = { ...identifyProcess(child.pid), mark };
  const limited = await limiter?.begin(child.pid);
  after.use(isSandboxed ? undefined : lifeline.hold(leader));
  return {
    input,
    leader,
    output,
    exited,
    limited,
    openGate() {
      if (!dialogue) return void input.end(toGateInput(stdin));
      input.write(toGateInput());
      dialogue.onInput(input);
    },
    findPlanted: async () => (await wrapped.findPlanted?.()) ?? [],
    release: () => after.disposeAsync(),
  };
}

interface WrapOptions {
  sandbox: Sandbox;
  folder: HeldFolder;
  access: Access;
  localPorts: readonly number[] | undefined;
}

async function wrap(argv: string[], { sandbox, folder, access, localPorts }: WrapOptions): Promise<Wrapped> {
  if (sandbox.kind === 'none') return { argv, fds: [], cwd: folder.way, release: async () => undefined };
  const { others, areOthersReadOnly, tier, writable } = access;
  return sandbox.wrap(argv, { workdir: folder, others, areOthersReadOnly, tier, writable, localPorts });
}

const BARE: Access = { others: [], tier: 'workspace', writable: [] };

/** Refuses a folder in which a command could replace the programs that run the next one outside the sandbox. */
function requireOutside(workdir: string, programs: readonly string[]): void {
  const inside = programs.find((program) => isInside(workdir, program));
  if (inside !== undefined) throw new Error(`${inside} is needed to run commands, but lies in the working directory`);
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
