import { readdir, realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { Ids } from '../../ids.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import { readCommand } from '../permissions/read-command.ts';
import { type NameReader, resolveLinks } from '../permissions/resolve-links.ts';
import { createOutputCollector } from '../process/output.ts';
import { whyNot } from '../process/programs.ts';
import type { ProcessResult, ProcessRunner } from '../process/runner.ts';
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
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome?: string | undefined;
  /** The names that commands may use. Default: those of this machine. */
  names?: NameReader;
  /** Read at each call without its own timeout. */
  live?: { readonly commandTimeoutSecs: number };
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
  return {
    kind: 'ready',
    subject,
    preview: args.command, // that it is not sandboxed is a separate field of the item
    approvalLabel: 'bash',
    needsApproval: true,
    reading: await readBash(args.command, context, dependencies),
    matched: { command: args.command },
    // An approval of a sandboxed command does not cover the same command without the sandbox.
    bindTo: `sandbox:${sandbox.kind}`,
    execute: (run) => execute({ args, context }, run, dependencies),
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

async function execute(
  { args, context }: { args: BashArguments; context: ToolContext },
  run: ToolRun,
  { runner, outputs, ids, live }: BashDependencies,
): Promise<ToolOutcome> {
  const timeoutSecs = args.timeout_secs ?? live?.commandTimeoutSecs ?? TIMEOUT_SECS;
  const { callId, workdir } = context;
  await using output = createOutputCollector({
    folder: outputs,
    name: ids.id('out'),
    callId,
    onChunk: run.onOutput,
    limits: { maxBytes: run.maxOutputBytes },
  });
  const result = await runner.run(
    { command: args.command, folder: workdir.folder, timeoutMs: timeoutSecs * 1_000 },
    { signal: run.signal, onProcess: run.onProcess, onOutput: output.write },
  );
  const ending = toEnding(result, timeoutSecs);
  const printed = await output.finish();
  const kept = output.kept();
  return {
    output: joinLines(printed, ending),
    outcome: toOutcome(result),
    ...(result.kind === 'exited' && { exitCode: result.exitCode }),
    ...(kept && { kept }),
  };
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
