import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { withStreams } from './with-streams.ts';

/** How the daemon talks with a command. */
export interface Dialogue {
  /** Called when the command starts. Ending the stream is the end of its input. */
  onInput(input: Writable): void;
  /** What it writes to stderr. */
  onErrorOutput(bytes: Buffer): void;
}

/**
 * Holds the command back until it reads a line, so that its start is on disk before it has any effect. If the daemon
 * dies first, the line never comes. The command gets no inherited descriptors, which could lead out of the sandbox, and no
 * input but its own. `last` is the highest descriptor that it keeps. What it starts inherits the size limit of files.
 */
export const toGate = (last: number, fileBytes: number | undefined, streams: string): string =>
  `for at in /dev/fd/*; do [ "\${at##*/}" -le ${last} ] || eval "exec \${at##*/}<&-"; done; ` +
  (fileBytes === undefined ? '' : `ulimit -f ${Math.ceil(fileBytes / 1_024)}; `) +
  `IFS= read -r _ || exit 125; exec "$@" ${streams}`;
/** What becomes of the streams of the gate. */
export function toStreams({ stdin, dialogue }: { stdin: string | undefined; dialogue: Dialogue | undefined }): string {
  if (dialogue) return '';
  return stdin === undefined ? '</dev/null 2>&1' : '2>&1';
}
/** What opens the gate, and what the command reads. */
export const toGateInput = (stdin = ''): string => `\n${stdin}`;

/** The pipes of a command that waits at the gate. */
export function openPipes(child: ChildProcess, dialogue: Dialogue | undefined): { input: Writable; output: Readable } {
  const { stdin: input, stdout: output, stderr } = withStreams(child);
  if (input === null || output === null || stderr === null) throw new Error('its pipes could not be opened');
  input.on('error', () => undefined); // it ended before its gate was opened; `exited` reports that
  if (dialogue) stderr.on('data', (bytes: Buffer) => dialogue.onErrorOutput(bytes));
  else stderr.resume(); // contains only messages of the gate shell
  return { input, output };
}

/** Ends a command that waits at the gate; without effect on one that has ended. */
export function endAtGate(child: ChildProcess): void {
  child.stdin?.destroy();
  child.kill('SIGKILL');
}
