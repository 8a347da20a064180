import { z } from 'zod';
import type { ToolMessage } from '../message.ts';
import { StopReason } from '../stop-reason.ts';
import { createLineWindow } from './files/read-lines.ts';
import { outcomeOf, toStopLine } from './stop-line.ts';
import type { Tool, ToolContext, ToolOutcome, ToolRun } from './tool.ts';

const ReadOutputArguments = z.strictObject({
  call_id: z
    .string()
    .min(1)
    .max(512)
    .describe('The id of the earlier call or background command, as given in place of its output'),
  offset: z.int().min(1).default(1).describe('The first line to show; lines count from 1'),
  limit: z.int().min(1).max(2_000).default(2_000).describe('Maximum number of lines to show'),
});
type ReadOutputArguments = z.infer<typeof ReadOutputArguments>;

/** Finds whole outputs of finished calls. */
export interface OutputSource {
  /** Only the calls of this workstream are known. */
  open(wsId: string, callId: string): Promise<FoundOutput>;
}

export type FoundOutput =
  | { kind: 'found'; pieces: AsyncIterable<Buffer> | Iterable<Buffer>; taint?: ToolMessage['taint'] }
  /** No finished call has this id. */
  | { kind: 'unknown' }
  /** It was stored, but not any more. */
  | { kind: 'expired' };

/** Shows a long output of an earlier call, page after page. */
export function createReadOutputTool(outputs: OutputSource): Tool<ReadOutputArguments> {
  return {
    name: 'read_output',
    description: [
      'Shows the output of an earlier tool call of this conversation by lines, if only its ends were shown or it was taken',
      'out of the context. offset and limit choose the lines; a line longer than 4 KiB counts as several.',
    ].join(' '),
    parameters: ReadOutputArguments,
    readOnly: true,
    safeToRepeat: true,
    prepare: async (args, context) => ({
      kind: 'ready',
      subject: `${args.call_id}, from line ${args.offset}`,
      preview: '',
      approvalLabel: 'read_output',
      needsApproval: false,
      execute: (run) => show(args, run, { outputs, context }),
    }),
  };
}

async function show(
  { call_id: callId, offset, limit }: ReadOutputArguments,
  { signal, maxOutputBytes }: ToolRun,
  { outputs, context }: { outputs: OutputSource; context: ToolContext },
): Promise<ToolOutcome> {
  const found = await outputs.open(context.wsId, callId);
  if (found.kind === 'unknown') return failed(`No finished call of this conversation has the id "${callId}".`);
  if (found.kind === 'expired') return failed('This output has expired. Run the call again if you need it.');
  const lines = createLineWindow({ offset, limit, maxBytes: maxOutputBytes });
  const wrap = createWrap();
  try {
    for await (const piece of found.pieces) {
      signal.throwIfAborted();
      for (const part of wrap(piece)) lines.write(part);
    }
  } catch (error) {
    if (error instanceof StopReason) return { output: toStopLine(error, 0), outcome: outcomeOf(error) };
    throw error;
  }
  // The parts that were not shown before bring in the same as those that were.
  return { output: lines.end(), outcome: 'done', ...(found.taint && { taint: found.taint }) };
}

const failed = (output: string): ToolOutcome => ({ output, outcome: 'failed' });

const MAX_LINE_BYTES = 4 * 1024;
const NEWLINE = Buffer.from('\n');

/** Ends lines that are too long, so that the rest of a long line can be shown, too. */
function createWrap(): (piece: Buffer) => Iterable<Buffer> {
  let lineBytes = 0;
  return function* (piece) {
    for (let from = 0; from < piece.length; ) {
      const end = endOfPart(piece, from, MAX_LINE_BYTES - lineBytes);
      yield piece.subarray(from, end);
      lineBytes = piece[end - 1] === NEWLINE[0] ? 0 : lineBytes + end - from;
      if (lineBytes >= MAX_LINE_BYTES) {
        yield NEWLINE;
        lineBytes = 0;
      }
      from = end;
    }
  };
}

/** After the end of the line, or after `room` bytes and the rest of a character. */
function endOfPart(bytes: Buffer, from: number, room: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  const lineEnd = newline < 0 ? bytes.length : newline + 1;
  let end = Math.min(lineEnd, from + room);
  while (end < lineEnd && isInsideCharacter(bytes[end])) end += 1;
  return end;
}

const isInsideCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
