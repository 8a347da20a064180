import type { ProcessResult, ProcessRunner, ShellCommand } from '../../process/runner.ts';
import { toStopLine } from '../stop-line.ts';
import type { ToolRun } from '../tool.ts';

/** How a command of the configuration ended, and what it printed. */
export interface ConfiguredRun {
  result: ProcessResult;
  /** At least the first `maxBytes` of what it printed, if there is so much. */
  bytes: Buffer;
  /** How much it printed. */
  total: number;
}

interface Where extends Pick<ToolRun, 'signal' | 'onProcess'> {
  runner: ProcessRunner;
  maxBytes: number;
}

/** Runs a command of the configuration, and keeps the beginning of its output. Rejects like the runner. */
export async function runConfigured(
  command: ShellCommand,
  { runner, signal, onProcess, maxBytes }: Where,
): Promise<ConfiguredRun> {
  const pieces: Buffer[] = [];
  let total = 0;
  const result = await runner.run(command, {
    signal,
    onProcess,
    async onOutput(piece) {
      if (total <= maxBytes) pieces.push(piece);
      total += piece.length;
    },
  });
  return { result, bytes: Buffer.concat(pieces), total };
}

/** A word of a shell command that stands for exactly this text. */
export const toWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** How it ended, for the model and for people: `exit code 2`. */
export function toEndingWords(result: ProcessResult, timeoutSecs: number): string {
  switch (result.kind) {
    case 'exited':
      return `exit code ${result.exitCode}`;
    case 'killed':
      return `ended by ${result.signal}`;
    case 'stopped':
      return toStopLine(result.reason, timeoutSecs).replace(/^\[|\]$/g, '');
    case 'failed':
      return `could not be run: ${result.message}`;
  }
}
