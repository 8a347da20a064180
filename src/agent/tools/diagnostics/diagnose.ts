import { relative, sep } from 'node:path';
import ignore from 'ignore';
import { takeHead } from '../../process/byte-ends.ts';
import type { ProcessRunner } from '../../process/runner.ts';
import { isInside } from '../files/confinement.ts';
import { expandBraces } from '../search/expand-braces.ts';
import type { Tool, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';
import { type ConfiguredRun, runConfigured, toEndingWords, toWord } from './configured-command.ts';

/** A command that looks for problems in files after the agent has changed them. */
export interface DiagnosticsCommand {
  /** A pattern as in .gitignore for paths below the working directory: `*.ts`. */
  files: string;
  /** For bash; its arguments are the changed files that match. */
  command: string;
  timeoutSecs: number;
}

interface DiagnosticsDependencies {
  runner: ProcessRunner;
  /** Read at each call. */
  live: { readonly diagnostics: readonly DiagnosticsCommand[] };
}

/**
 * A tool that changes files, whose result also has what the configured commands say about them. They run in the sandbox
 * without a network and write nothing. Whatever happens to them, the change is done.
 */
export function withDiagnostics<A>(tool: Tool<A>, dependencies: DiagnosticsDependencies): Tool<A> {
  return {
    ...tool,
    async prepare(args, context) {
      const prepared = await tool.prepare(args, context);
      if (prepared.kind === 'refused') return prepared;
      return {
        ...prepared,
        async execute(run) {
          const outcome = await prepared.execute(run);
          const said = await diagnose(outcome, { run, context }, dependencies);
          return said.length === 0 ? outcome : { ...outcome, output: [outcome.output, ...said].join('\n\n') };
        },
      };
    },
  };
}

interface Called {
  run: ToolRun;
  context: ToolContext;
}

async function diagnose(
  { outcome, files = {} }: ToolOutcome,
  called: Called,
  { runner, live }: DiagnosticsDependencies,
): Promise<string[]> {
  if (outcome !== 'done') return [];
  const folder = called.context.workdir.folder.path;
  const changed = Object.keys(files)
    .filter((path) => isInside(folder, path))
    .map((path) => relative(folder, path).split(sep).join('/'));
  const said: string[] = [];
  for (const command of live.diagnostics) {
    const wanted = ignore({ ignorecase: false }).add(expandBraces(command.files) ?? []);
    const matching = changed.filter((name) => wanted.ignores(name));
    if (matching.length > 0) said.push(await runOn(matching, { command, called, runner }));
  }
  return said;
}

const MAX_BYTES = 8 * 1024;
const MAX_LINES = 60;

async function runOn(
  names: readonly string[],
  { command, called: { run, context }, runner }: { command: DiagnosticsCommand; called: Called; runner: ProcessRunner },
): Promise<string> {
  const told = `diagnostics: ${command.command.split('\n')[0]?.slice(0, 200)}`;
  if (runner.sandbox.kind === 'none') return `[${told}: not run, because there is no sandbox]`;
  try {
    const ran = await runConfigured(
      {
        command: `set -- ${names.map(toWord).join(' ')}\n${command.command}`,
        folder: context.workdir.folder,
        timeoutMs: command.timeoutSecs * 1_000,
        access: { others: context.workdir.readable, areOthersReadOnly: true, tier: 'read-only', writable: [] },
      },
      { runner, signal: run.signal, onProcess: run.onProcess, maxBytes: MAX_BYTES },
    );
    return toText({ told, ran }, command.timeoutSecs);
  } catch {
    return `[${told}: could not be run]`; // the change is done; the next command that runs reports the same fault
  }
}

interface Said {
  told: string;
  ran: ConfiguredRun;
}

function toText({ told, ran: { result, bytes, total } }: Said, timeoutSecs: number): string {
  const head = takeHead(bytes, { maxBytes: MAX_BYTES, maxLines: MAX_LINES });
  const text = head.toString('utf8').trimEnd();
  const ending = toEndingWords(result, timeoutSecs);
  if (text === '') return `[${told}: ${ending}; it printed nothing]`;
  const isCut = head.length < total;
  return `[${told}: ${ending}]\n${text}${isCut ? `\n[cut, ${total} bytes]` : ''}`;
}
