import { readdir, realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { Connection } from '../../egress/proxy/egress-proxy.ts';
import type { Ids } from '../../ids.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import { readCommand } from '../permissions/read-command.ts';
import { type NameReader, resolveLinks } from '../permissions/resolve-links.ts';
import { createOutputCollector } from '../process/output.ts';
import { whyNot } from '../process/programs.ts';
import type { ProcessResult, ProcessRunner } from '../process/runner.ts';
import type { SandboxTier } from '../process/sandbox.ts';
import { type CommandNetwork, mayUseNetwork, mayWrite, openCommandNetwork } from '../sandbox/command-network.ts';
import type { Limits } from '../sandbox/limits/limits.ts';
import { findProtectedWrites } from '../sandbox/protected-paths.ts';
import { outcomeOf, toStopLine } from './stop-line.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome, ToolRun } from './tool.ts';

const BashArguments = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command, for bash -c'),
  timeout_secs: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe('Timeout in seconds; two minutes unless configured otherwise'),
});
type BashArguments = z.infer<typeof BashArguments>;

interface BashDependencies {
  runner: ProcessRunner;
  /** Folder for outputs that are too long to show. */
  outputs: string;
  ids: Ids;
  /** All output passes it before it is shown or stored. */
  guard: OutputGuard;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome?: string | undefined;
  live?: LiveCommandSettings;
  /** Called for what a sandboxed command connects to, once for each host. */
  onConnection?(connection: CommandConnection): void;
  /** The names that commands may use. Default: those of this machine. */
  names?: NameReader;
}

/** Read at each call. */
interface LiveCommandSettings {
  /** For calls without their own timeout. */
  readonly commandTimeoutSecs: number;
  readonly sandboxTier: SandboxTier;
  /** `tools.network.allow`. */
  readonly allowedHosts: readonly string[];
}

/** A connection of a sandboxed command, and the call that it belongs to. */
export interface CommandConnection extends Connection {
  wsId: string;
  callId: string;
}

const TIMEOUT_SECS = 120;

/** Runs a shell command. It needs approval: a person's, or that of auto-approve or a job's policy. */
export function createBashTool(dependencies: BashDependencies): Tool<BashArguments> {
  return {
    name: 'bash',
    description: [
      'Runs a command with bash in the working directory and returns its output (stdout and stderr combined).',
      'Each call starts a new shell: directory changes and variables do not persist, there is no input, and processes left',
      'in the background end with the command. Long output is shortened to its beginning and end; read_output shows the rest.',
    ].join(' '),
    parameters: BashArguments,
    readOnly: false,
    safeToRepeat: false,
    prepare: (args, context) => prepareCommand(args, context, dependencies),
  };
}

async function prepareCommand(
  args: BashArguments,
  context: ToolContext,
  dependencies: BashDependencies,
): Promise<Prepared> {
  const { sandbox, bash } = dependencies.runner;
  const subject = toFirstLine(args.command);
  if (bash.kind !== 'found') return { kind: 'refused', subject, reason: `bash ${whyNot(bash)}.` };
  if (sandbox.kind === 'none' && sandbox.required) {
    return {
      kind: 'refused',
      subject,
      reason: `Commands require a sandbox here, and none is available: ${sandbox.reason}.`,
    };
  }
  const reading = await readBash(args.command, context, dependencies);
  return {
    kind: 'ready',
    subject,
    preview: args.command, // that it is not sandboxed is a separate field of the item
    approvalLabel: 'bash',
    needsApproval: true,
    reading,
    matched: { command: args.command },
    // An approval of a sandboxed command does not cover the same command without the sandbox.
    bindTo: `sandbox:${sandbox.kind}`,
    execute: (run) => execute({ args, context, reading }, run, dependencies),
  };
}

/** What the command does, as far as its text tells, with the paths that its names lead to now. */
const readBash = (
  command: string,
  { workdir }: ToolContext,
  { userHome, names = NAMES }: BashDependencies,
): Promise<CommandReading> =>
  resolveLinks(readCommand(command, { folder: workdir.folder.path, home: userHome }), names);

/** A folder or file that cannot be read has no names that a command could use. */
const NAMES: NameReader = {
  realpath: (path) => realpath(path).catch(() => undefined),
  list: (folder) => readdir(folder).catch(() => []),
};

/** The subject is one line in a list; the preview has the whole command. */
const MAX_SUBJECT = 200;

function toFirstLine(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  const short = first.slice(0, MAX_SUBJECT);
  return more.length > 0 || short !== first ? `${short} …` : first;
}

interface BashCall {
  args: BashArguments;
  context: ToolContext;
  reading: CommandReading;
}

async function execute(call: BashCall, run: ToolRun, dependencies: BashDependencies): Promise<ToolOutcome> {
  const { args, context, reading } = call;
  const { runner, outputs, ids, guard, live } = dependencies;
  const timeoutSecs = args.timeout_secs ?? live?.commandTimeoutSecs ?? TIMEOUT_SECS;
  const { callId, workdir } = context;
  await using output = createOutputCollector({
    folder: outputs,
    name: ids.id('out'),
    callId,
    onChunk: run.onOutput,
    limits: { maxBytes: run.maxOutputBytes },
  });
  const guarded = guard.open();
  const bytes = createGuardedBytes(guarded);
  const roots = [workdir.folder, ...workdir.readable].map(({ path }) => path);
  const network = await openNetwork(call, dependencies);
  const result = await runner.run(
    {
      command: args.command,
      folder: workdir.folder,
      timeoutMs: timeoutSecs * 1_000,
      network,
      access: {
        others: workdir.readable,
        tier: mayWrite(reading) ? (live?.sandboxTier ?? 'workspace') : 'read-only',
        writable: findProtectedWrites(reading, roots),
      },
    },
    { signal: run.signal, onProcess: run.onProcess, onOutput: (piece) => output.write(bytes.write(piece)) },
  );
  const endings = [toEnding(result, timeoutSecs), toLimitLine(result, runner.limits), toRefusedLine(network)];
  const ending = endings.filter((line) => line !== '').join('\n');
  await output.write(bytes.end());
  const printed = await output.finish();
  const kept = output.kept();
  return {
    output: joinLines(printed, ending),
    outcome: toOutcome(result),
    guarded,
    ...(result.kind === 'exited' && { exitCode: result.exitCode }),
    ...(kept && { kept }),
  };
}

async function openNetwork(
  { context: { wsId, callId, workdir }, reading }: BashCall,
  { runner, live, onConnection }: BashDependencies,
): Promise<CommandNetwork | undefined> {
  if (runner.sandbox.kind === 'none' || !mayUseNetwork(reading)) return undefined;
  return openCommandNetwork(reading, workdir, {
    allowedHosts: () => live?.allowedHosts ?? [],
    onConnection: ({ host, port, outcome }) => onConnection?.({ wsId, callId, host, port, outcome }),
  });
}

const MIB = 1_024 * 1_024;
/** As bash reports SIGXFSZ. */
const FILE_TOO_LARGE = 153;

/** Which limit ended the command, or something in it. */
function toLimitLine(result: ProcessResult, limits: Limits | undefined): string {
  if (limits === undefined || (result.kind !== 'exited' && result.kind !== 'killed')) return '';
  if (result.kind === 'exited' && result.exitCode === FILE_TOO_LARGE)
    return `[a file reached the limit of ${limits.fileBytes / MIB} MiB]`;
  if (result.limit === 'memory')
    return `[ended because of the limit of ${limits.memoryBytes / MIB} MiB of memory for one command]`;
  return result.limit === undefined
    ? ''
    : `[no more than ${limits.processes} processes at once for one command; some could not be started, or all were ended]`;
}

const MAX_NAMED = 10;

function toRefusedLine(network: CommandNetwork | undefined): string {
  const refused = network?.refused() ?? [];
  if (refused.length === 0) return '';
  const names = refused.slice(0, MAX_NAMED).map(({ host, port }) => `${host}:${port}`);
  const more = refused.length > MAX_NAMED ? ` and ${refused.length - MAX_NAMED} more` : '';
  return `[no connection to ${names.join(', ')}${more}: commands reach only package registries, the hosts that the command names, and hosts that a person allows in tools.network.allow]`;
}

function toEnding(result: ProcessResult, timeoutSecs: number): string {
  switch (result.kind) {
    case 'exited':
      return result.exitCode === 0 ? '' : `[exit code: ${result.exitCode}]`;
    case 'killed':
      return `[killed by ${result.signal}]`;
    case 'failed':
      return `[${result.message}]`;
    case 'stopped':
      return toStopLine(result.reason, timeoutSecs);
  }
}

function toOutcome(result: ProcessResult): ToolOutcome['outcome'] {
  if (result.kind === 'stopped') return outcomeOf(result.reason);
  return result.kind === 'exited' && result.exitCode === 0 ? 'done' : 'failed';
}

function joinLines(printed: string, ending: string): string {
  if (ending === '') return printed === '' ? '[no output]' : printed;
  return printed === '' || printed.endsWith('\n') ? `${printed}${ending}` : `${printed}\n${ending}`;
}
