import type { CommandReading } from './command-reading.ts';
import type { Doubts } from './reading/doubts.ts';
import { Findings, ReadingTooLong } from './reading/findings.ts';
import { Scope } from './reading/scope.ts';
import { ShellReader } from './reading/shell-reader.ts';

/** Where a command runs. */
export interface CommandContext {
  /** The absolute path of the working directory. */
  folder: string;
  /** The home of the user, for `~`; undefined if it is unknown. */
  home?: string | undefined;
}

/**
 * Reads what a shell command would run and what that does, without running it. Never throws; its time and memory are
 * bounded. Effects may be too many, but none is missing from a reading without gaps and unknown effects (decision 72).
 */
export function readCommand(text: string, context: CommandContext): CommandReading {
  const first = readOnce(text, context, { folderVaries: false, mayEndLine: false });
  const mayEndLine = first.mayEndLine && first.hasLines;
  if (!first.changesFolder || !(first.readsLater || mayEndLine)) return first.toReading();
  return readOnce(text, context, { folderVaries: first.readsLater, mayEndLine }).toReading();
}

function readOnce(text: string, context: CommandContext, doubts: Doubts): Findings {
  const findings = new Findings();
  const reader = new ShellReader(findings, doubts);
  try {
    reader.script(text, new Scope({ folder: context.folder, home: context.home }));
    for (const name of reader.arithmetic.suspicious()) findings.addGap('arithmetic', name);
  } catch (error) {
    // The parser resolves parts when they are visited, where a long chain may overflow its stack.
    if (!(error instanceof ReadingTooLong) && !(error instanceof RangeError)) throw error;
    findings.addGap('too_long', text);
  }
  return findings;
}
