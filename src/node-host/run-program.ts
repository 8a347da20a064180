import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { toChildEnvironment } from '../agent/process/environment.ts';
import { endTree, identifyProcess } from '../agent/process/process-tree.ts';
import { withStreams } from '../agent/process/with-streams.ts';
import { StopReason } from '../agent/stop-reason.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { until } from '../timing/until.ts';
import { CommandProblem, toProblem } from './lent-command.ts';

export interface ProgramEnd {
  /** Null if a signal ended the program. */
  exitCode: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** An output was cut to its beginning. */
  truncated: boolean;
  /** The program was stopped by its timeout. */
  timedOut: boolean;
}

interface Run {
  /** The absolute path of the program. */
  program: string;
  argv: readonly string[];
  cwd: string;
  environment: Environment;
  /** Folders that the gateway can write to. */
  avoid: readonly string[];
  clock: Clock;
}

const MAX_OUTPUT_BYTES = 128 * 1024;

/** Runs a program without a shell and without input, in a process group that has ended when this resolves. */
export async function runProgram(run: Run, signal: AbortSignal): Promise<ProgramEnd> {
  const { program, argv, cwd, environment, avoid, clock } = run;
  const [name = '', ...args] = argv;
  const env = await toChildEnvironment(environment, avoid);
  signal.throwIfAborted();
  const child = withStreams(
    spawn(program, args, {
      argv0: name,
      cwd,
      env,
      detached: true, // its own process group
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const exited = new Promise<Pick<ProgramEnd, 'exitCode' | 'signal'>>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new CommandProblem('UNAVAILABLE', `${name} could not be run: ${error.message}`)),
    );
    child.once('exit', (exitCode, killedBy) => resolve({ exitCode, signal: killedBy }));
  });
  exited.catch(() => undefined); // awaited below
  const [stdout, stderr] = [keepHead(child.stdout), keepHead(child.stderr)];
  if (child.pid === undefined) {
    await exited;
    throw new CommandProblem('UNAVAILABLE', `${name} could not be run`);
  }
  const leader = identifyProcess(child.pid);
  let isStopped = false;
  try {
    await until(exited, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    isStopped = true;
  }
  await endTree(leader, { clock }); // including its background processes
  const end = await exited;
  await readRest([stdout, stderr], clock);
  if (isStopped && !isTimeout(signal.reason)) throw toProblem(signal.reason);
  return {
    ...end,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.isCut() || stderr.isCut(),
    timedOut: isStopped,
  };
}

const isTimeout = (reason: unknown): boolean => reason instanceof StopReason && reason.kind === 'timeout';

/** A process that left the group may hold them open. */
const REST_MS = 2_000;

/** What the program wrote may still be on its way when it has exited. */
async function readRest(outputs: readonly KeptHead[], clock: Clock): Promise<void> {
  const waited = new AbortController();
  const over = clock.sleep(REST_MS, waited.signal).catch(() => undefined); // aborted just below
  await Promise.race([Promise.all(outputs.map(({ ended }) => ended)), over]);
  waited.abort();
  for (const output of outputs) output.close();
}

interface KeptHead {
  /** Resolves when everything was read, or reading failed. */
  ended: Promise<void>;
  text(): string;
  isCut(): boolean;
  /** Reads no further. */
  close(): void;
}

/** Reads and drops the rest, so that the program does not block on a full pipe. */
function keepHead(output: Readable): KeptHead {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  output.on('data', (chunk: Buffer) => {
    const fitting = chunk.subarray(0, MAX_OUTPUT_BYTES - bytes);
    isCut ||= fitting.length < chunk.length;
    bytes += fitting.length;
    if (fitting.length > 0) chunks.push(fitting);
  });
  const over = Promise.withResolvers<void>();
  output.on('error', () => undefined); // the output so far is kept
  output.on('close', over.resolve);
  return {
    ended: over.promise,
    text: () => Buffer.concat(chunks).toString('utf8'),
    isCut: () => isCut,
    close() {
      isCut ||= !output.readableEnded;
      output.destroy();
    },
  };
}
