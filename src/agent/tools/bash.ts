import { readdir, realpath } from 'node:fs/promises';
import { z } from 'zod';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { Connection } from '../../egress/proxy/egress-proxy.ts';
import type { Ids } from '../../ids.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import type { CommandReading, Effect } from '../permissions/command-reading.ts';
import { readCommand } from '../permissions/read-command.ts';
import { type NameReader, resolveLinks } from '../permissions/resolve-links.ts';
import { createOutputCollector } from '../process/output.ts';
import { whyNot } from '../process/programs.ts';
import type { ProcessResult, ProcessRunner } from '../process/runner.ts';
import type { SandboxTier } from '../process/sandbox.ts';
import { type CommandNetwork, mayUseNetwork, mayWrite, openCommandNetwork } from '../sandbox/command-network.ts';
import { isAllowedHost } from '../sandbox/network/host-rules.ts';
import { limitOf, toEnding } from './command-ending.ts';
import { findRefusedBefore } from './refused-before.ts';
import { outcomeOf } from './stop-line.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome, ToolRun } from './tool.ts';

const BashArguments = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command, for bash -c'),
  timeout_secs: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe('Timeout in seconds; two minutes unless configured otherwise'),
  sandbox: z
    .literal('off')
    .optional()
    .describe(
      'Asks the person to run this one command outside the sandbox, for what cannot work in it, such as docker (a local socket). Needs reason',
    ),
  reason: z.string().min(1).max(500).optional().describe('Why it must run outside the sandbox, for the person'),
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
  audit?: CommandAudit;
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

/** Is told what commands do. */
export interface CommandAudit {
  /** What a sandboxed command connects to, once for each host. */
  onConnection(connection: CommandConnection): void;
  /** A command that leaves the sandbox, before it starts. */
  onOutside(command: OutsideCommand): void;
}

/** A connection of a sandboxed command, and the call that it belongs to. */
export interface CommandConnection extends Connection {
  wsId: string;
  callId: string;
}

/** A command that runs outside the sandbox because a person allowed it. */
export interface OutsideCommand {
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
  const problem = whyNotHere(args, dependencies);
  if (problem !== undefined) return { kind: 'refused', subject, reason: problem };
  const sandboxOff = sandboxOffIn(args);
  const read = await readBash(args.command, context, dependencies);
  const reading = sandboxOff === undefined ? withRefused(read, { args, context, dependencies }) : read;
  return {
    kind: 'ready',
    subject,
    preview: args.command, // that it is not sandboxed is a separate field of the item
    approvalLabel: 'bash',
    needsApproval: true,
    reading,
    matched: { command: args.command },
    ...(sandboxOff !== undefined && { sandboxOff }),
    // An approval of a sandboxed command does not cover the same command without the sandbox.
    bindTo: sandboxOff === undefined ? `sandbox:${sandbox.kind}` : 'sandbox:off',
    execute: (run) => execute({ args, context, reading }, run, dependencies),
  };
}

/** Set if the model asks to run it outside the sandbox: why. */
const sandboxOffIn = ({ sandbox, reason }: BashArguments): string | undefined =>
  sandbox === undefined ? undefined : toVisibleLine(reason ?? '');

/** Why the command cannot run with this sandbox, or without one. */
function whyNotHere(args: BashArguments, { runner: { sandbox }, live }: BashDependencies): string | undefined {
  const isReasoned = args.reason !== undefined && args.reason.trim() !== '';
  if (args.sandbox === 'off' && !isReasoned)
    return 'A command that runs outside the sandbox needs a reason, which the person reads.';
  if (sandbox.kind === 'none')
    return sandbox.required ? `Commands require a sandbox here, and none is available: ${sandbox.reason}.` : undefined;
  if (args.sandbox === undefined) return undefined;
  if (sandbox.required)
    return 'Commands require the sandbox here (tools.sandbox is "required"), so none runs outside it.';
  return live?.sandboxTier === 'read-only'
    ? 'Commands change nothing here (tools.tier is "read-only"), so none runs outside the sandbox.'
    : undefined;
}

interface ReadCall {
  args: BashArguments;
  context: ToolContext;
  dependencies: BashDependencies;
}

/** Adds the hosts that the same command could not reach before: a person is asked about them now (decision 82). */
function withRefused(
  reading: CommandReading,
  { args: { command }, context: { history, hosts }, dependencies: { runner, live } }: ReadCall,
): CommandReading {
  if (runner.sandbox.kind === 'none' || hosts?.canAsk !== true) return reading;
  const named = new Set(reading.effects.map(({ target }) => target));
  const isDecided = (host: string) =>
    hosts.ruleOn({ command, reading }, host)?.action === 'deny' || isAllowedHost(live?.allowedHosts ?? [], host);
  const asked = findRefusedBefore(command, history).filter((host) => !named.has(host) && !isDecided(host));
  if (asked.length === 0) return reading;
  const effects = asked.map((target): Effect => ({ kind: 'network', target, certain: true, isUnreached: true }));
  return { ...reading, effects: [...reading.effects, ...effects] };
}

/** What the command does, as far as its text tells, with the paths that its names lead to now. */
const readBash = (
  command: string,
  { workdir }: ToolContext,
  { userHome, names = NAMES }: BashDependencies,
): Promise<CommandReading> =>
  resolveLinks(readCommand(command, { folder: workdir.folder.path, home: userHome }), names, workdir.folder.path);

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
  const { args, context } = call;
  const { runner, outputs, ids, guard } = dependencies;
  const timeoutSecs = args.timeout_secs ?? dependencies.live?.commandTimeoutSecs ?? TIMEOUT_SECS;
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
  const isOutside = leavesSandbox(args, runner);
  if (isOutside) dependencies.audit?.onOutside({ wsId: context.wsId, callId });
  const network = isOutside ? undefined : await openNetwork(call, run, dependencies);
  const result = await runner.run(
    {
      command: args.command,
      folder: workdir.folder,
      timeoutMs: timeoutSecs * 1_000,
      isOutside,
      network,
      access: accessOf(call, run, dependencies),
    },
    { signal: run.signal, onProcess: run.onProcess, onOutput: (piece) => output.write(bytes.write(piece)) },
  );
  const limit = runner.limits && limitOf(result);
  // A command may put what it has read into the name of a host.
  const refused = (network?.refused() ?? []).map((one) => ({ ...one, host: guard.clean(one.host) }));
  const ending = toEnding({ result, timeoutSecs, limit, limits: runner.limits, refused });
  await output.write(bytes.end());
  const printed = await output.finish();
  const kept = output.kept();
  return {
    output: joinLines(printed, ending),
    outcome: toOutcome(result),
    guarded,
    ...(result.kind === 'exited' && { exitCode: result.exitCode }),
    ...(limit !== undefined && { limit }),
    ...(refused.length > 0 && { refusedHosts: refused }),
    ...(kept && { kept }),
  };
}

const accessOf = ({ context: { workdir }, reading }: BashCall, { grants }: ToolRun, { live }: BashDependencies) => ({
  others: workdir.readable,
  areOthersReadOnly: grants?.writesAdded !== true,
  tier: mayWrite(reading) ? (live?.sandboxTier ?? 'workspace') : ('read-only' as const),
  writable: grants?.protectedPaths ?? [],
});

const leavesSandbox = (args: BashArguments, { sandbox }: ProcessRunner): boolean =>
  args.sandbox === 'off' && sandbox.kind !== 'none';

async function openNetwork(
  { args: { command }, context: { wsId, callId, workdir, hosts }, reading }: BashCall,
  { grants }: ToolRun,
  { runner, guard, live, audit }: BashDependencies,
): Promise<CommandNetwork | undefined> {
  if (runner.sandbox.kind === 'none' || !mayUseNetwork(reading)) return undefined;
  return openCommandNetwork(reading, workdir, {
    allowedHosts: () => live?.allowedHosts ?? [],
    granted: grants?.hosts ?? [],
    ruleOn: (host) => hosts?.ruleOn({ command, reading }, host),
    onConnection: (connection) =>
      audit?.onConnection({ ...connection, host: guard.clean(connection.host), wsId, callId }),
  });
}

function toOutcome(result: ProcessResult): ToolOutcome['outcome'] {
  if (result.kind === 'stopped') return outcomeOf(result.reason);
  return result.kind === 'exited' && result.exitCode === 0 ? 'done' : 'failed';
}

function joinLines(printed: string, ending: string): string {
  if (ending === '') return printed === '' ? '[no output]' : printed;
  return printed === '' || printed.endsWith('\n') ? `${printed}${ending}` : `${printed}\n${ending}`;
}
