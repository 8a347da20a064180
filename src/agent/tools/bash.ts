import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { CommandReading, Effect } from '../permissions/command-reading.ts';
import { readCommand } from '../permissions/read-command.ts';
import { type NameReader, resolveLinks } from '../permissions/resolve-links.ts';
import { createOutputCollector } from '../process/output.ts';
import { whyNot } from '../process/programs.ts';
import type { ProcessResult } from '../process/runner.ts';
import { isAllowedHost } from '../sandbox/network/host-rules.ts';
import { limitOf, toEnding } from './command-ending.ts';
import { findRefusedBefore } from './refused-before.ts';
import { BashArguments, type BashDependencies } from './shell/bash-arguments.ts';
import { createMachineNames } from './shell/machine-names.ts';
import { type BashCall, openCommand } from './shell/open-command.ts';
import { backgroundSecsOf, startInBackground } from './shell/start-in-background.ts';
import { outcomeOf } from './stop-line.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome, ToolRun } from './tool.ts';

const TIMEOUT_SECS = 120;

/** Runs a shell command. It needs approval: a person's, or that of auto-approve or a job's policy. */
export function createBashTool(dependencies: BashDependencies): Tool<BashArguments> {
  const { names = createMachineNames() } = dependencies;
  return {
    name: 'bash',
    description: [
      'Runs a command with bash in the working directory and returns its output (stdout and stderr combined).',
      'Each call starts a new shell: directory changes and variables do not persist, there is no input, and processes left',
      'behind with & or nohup end with the command: use run_in_background instead. Long output is shortened to its beginning',
      'and end; read_output shows the rest.',
    ].join(' '),
    parameters: BashArguments,
    readOnly: false,
    safeToRepeat: false,
    prepare: (args, context) => prepareCommand(args, context, { dependencies, names }),
  };
}

async function prepareCommand(
  args: BashArguments,
  context: ToolContext,
  { dependencies, names }: { dependencies: BashDependencies; names: NameReader },
): Promise<Prepared> {
  const { sandbox, bash } = dependencies.runner;
  const subject = toFirstLine(args.command);
  if (bash.kind !== 'found') return { kind: 'refused', subject, reason: `bash ${whyNot(bash)}.` };
  const problem = whyNotHere(args, dependencies);
  if (problem !== undefined) return { kind: 'refused', subject, reason: problem };
  const sandboxOff = sandboxOffIn(args);
  const read = await readBash(args.command, context, { userHome: dependencies.userHome, names });
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
    ...(args.run_in_background === true && { backgroundSecs: backgroundSecsOf(args, dependencies) }),
    execute: (run) =>
      (args.run_in_background === true ? startInBackground : execute)({ args, context, reading }, run, dependencies),
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
  { userHome, names }: Required<Pick<BashDependencies, 'userHome' | 'names'>>,
): Promise<CommandReading> =>
  resolveLinks(readCommand(command, { folder: workdir.folder.path, home: userHome }), names, workdir.folder.path);

/** The subject is one line in a list; the preview has the whole command. */
const MAX_SUBJECT = 200;

function toFirstLine(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  const short = first.slice(0, MAX_SUBJECT);
  return more.length > 0 || short !== first ? `${short} …` : first;
}

async function execute(call: BashCall, run: ToolRun, dependencies: BashDependencies): Promise<ToolOutcome> {
  const { runner, outputs, ids, guard } = dependencies;
  const timeoutSecs = call.args.timeout_secs ?? dependencies.live?.commandTimeoutSecs ?? TIMEOUT_SECS;
  const { callId } = call.context;
  await using output = createOutputCollector({
    folder: outputs,
    name: ids.id('out'),
    callId,
    onChunk: run.onOutput,
    limits: { maxBytes: run.maxOutputBytes },
  });
  const guarded = guard.open();
  const bytes = createGuardedBytes(guarded);
  const { command, network } = await openCommand(call, run, { dependencies, timeoutSecs });
  const result = await runner.run(command, {
    signal: run.signal,
    onProcess: run.onProcess,
    onOutput: (piece) => output.write(bytes.write(piece)),
  });
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

function toOutcome(result: ProcessResult): ToolOutcome['outcome'] {
  if (result.kind === 'stopped') return outcomeOf(result.reason);
  return result.kind === 'exited' && result.exitCode === 0 ? 'done' : 'failed';
}

function joinLines(printed: string, ending: string): string {
  if (ending === '') return printed === '' ? '[no output]' : printed;
  return printed === '' || printed.endsWith('\n') ? `${printed}${ending}` : `${printed}\n${ending}`;
}
