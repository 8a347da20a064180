import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { PastRuling } from '../../../protocol/events/rules.ts';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import { toDecidedWords } from '../../../protocol/text/rule-words.ts';
import { type EndsLine, type Room, readText, toLineEnds, toTextEnds } from '../../../protocol/text/text-ends.ts';
import { TODO_TOOL } from '../../../protocol/text/todo-words.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { toDiffStyle } from './diff-lines.ts';
import type { Paint, Style } from './paint.ts';
import { toSafeText } from './safe-text.ts';
import type { Sheet } from './sheet.ts';
import { cutToRow, toWordRows } from './wrap.ts';

/** One tool call that was started. */
export interface ToolCall {
  callId: string;
  name: string;
  header: string;
  /** What the call works on; undefined if nothing names it. Events of older builds have only the header. */
  subject: string | undefined;
  preview: string;
  /** Whether the preview is a diff. */
  isDiff: boolean;
  notSandboxed: string | undefined;
  /** What was decided about it; absent: as its tool says. */
  ruling?: PastRuling | undefined;
  /** A person has seen the preview, and why it asked, in a question. */
  wasAsked: boolean;
}

const INDENT = '  ';
/** The space for the preview of a call that ran without asking. */
const PREVIEW_ROOM: Room = { rows: 40, columns: 100 };
/** How many lines of a finished call's output are shown. */
const OUTPUT_LINES = 12;
/** Tools that only read: their output is long and rarely of interest. */
const QUIET_TOOLS = ['read_file', 'search', 'glob', 'list_directory', 'read_output', 'web_fetch', 'web_search'];
/** Their previews say everything. */
const SHOWN_BY_PREVIEW: readonly string[] = [TODO_TOOL];

export const toToolCall = (item: ApprovalItem, wasAsked: boolean): ToolCall => ({
  callId: item.call_id,
  name: item.func_name,
  header: toCallLine(item.header),
  subject: item.subject === undefined ? undefined : toCallLine(item.subject),
  preview: item.preview,
  isDiff: item.preview_type === 'diff',
  notSandboxed: item.not_sandboxed,
  ruling: item.ruling,
  wasAsked,
});

/** A call of which only the name is known. */
export const toUnknownCall = (name: string): ToolCall => ({
  callId: '',
  name,
  header: toOneLine(name),
  subject: undefined,
  preview: '',
  isDiff: false,
  notSandboxed: undefined,
  wasAsked: true,
});

const toOneLine = (text: string): string => toSafeText(text).replaceAll('\n', ' ');

/** Of a person who decides about the call nothing may be hidden, such as what stands before a carriage return. */
const toCallLine = (text: string): string => toOneLine(toVisibleText(text));

/** The tool's name in bold and what the call works on; the header alone if nothing else is known. */
export const toHeaderText = (
  { name, header, subject }: Pick<ToolCall, 'name' | 'header' | 'subject'>,
  paint: Paint,
): string => (subject === undefined ? paint('bold', header) : `${paint('bold', name)} ${subject}`);

interface Marked {
  mark: string;
  /** Text after the head, in its last row. */
  behind?: string;
}

/** The same behind a mark, on as many rows as it needs. */
export const toHeadRows = (call: ToolCall, { mark, behind = '' }: Marked, { paint, columns }: Sheet): string[] =>
  toWordRows(`${toHeaderText(call, paint)}${behind}`, columns, { first: `${mark} `, rest: INDENT });

interface ResultStyle extends Sheet {
  /** Keys can be pressed. */
  hasCommands: boolean;
}

/** A finished call: its outcome and the end of its output. */
export function toResultLines(
  call: ToolCall,
  { output, outcome }: { output: string; outcome: CallOutcome },
  style: ResultStyle,
): string[] {
  const { paint } = style;
  const isDone = outcome === 'done';
  const mark = isDone ? paint('green', '✔') : paint('red', '✖');
  const lines = toOutputLines(output);
  const decided = call.wasAsked ? [] : toDecidedLine(call.ruling, paint);
  if (QUIET_TOOLS.includes(call.name) && isDone)
    return [...toHeadRows(call, { mark, behind: ` ${paint('dim', `(${countOf(lines.length)})`)}` }, style), ...decided];
  const head = toHeadRows(call, { mark }, style);
  const preview = call.wasAsked ? [] : toPreviewLines(call, { paint, room: PREVIEW_ROOM });
  if (SHOWN_BY_PREVIEW.includes(call.name) && isDone) return [...head, ...decided, ...preview];
  return [...head, ...decided, ...preview, ...toTail(lines, style)];
}

/** Why it ran unasked, or was blocked; no line where nothing has to be said. */
export function toDecidedLine(ruling: PastRuling | undefined, paint: Paint): string[] {
  const words = ruling && toDecidedWords(ruling);
  return words === undefined ? [] : [paint('dim', `${INDENT}${toOneLine(words)}`)];
}

/** The last lines of a running call's output. */
const toLiveTail = (output: string, { paint, maxLines }: { paint: Paint; maxLines: number }): string[] =>
  toOutputLines(output)
    .slice(-maxLines)
    .map((line) => paint('dim', `${INDENT}${line}`));

/** A call that runs. */
export interface RunningTool {
  call: ToolCall;
  /** The end of its output. */
  live: string;
}

/** How much of a running call's output is kept. */
const LIVE_CHARS = 16_384;

/** Adds output to a call that runs; that of others is ignored. */
export function addOutput(tool: RunningTool | undefined, chunk: string): void {
  if (tool) tool.live = (tool.live + chunk).slice(-LIVE_CHARS);
}

/** The running calls, each with as much of its output as there is room for. */
export function toRunningLines(
  tools: readonly RunningTool[],
  { sheet: { paint, columns }, maxRows }: { sheet: Sheet; maxRows: number },
): string[] {
  const tail = Math.max(1, Math.floor((maxRows - tools.length) / Math.max(1, tools.length)));
  return tools.flatMap(({ call, live }) => [
    cutToRow(`${paint('yellow', '◌')} ${toHeaderText(call, paint)}`, columns),
    ...toLiveTail(live, { paint, maxLines: Math.min(tail, 8) }).map((line) => cutToRow(line, columns)),
  ]);
}

/** How much of a call is shown, and how. */
export interface PreviewStyle {
  paint: Paint;
  /** A longer text is cut to its beginning and end. Undefined: never cut. */
  room: Room | undefined;
  /** Of the terminal: titles and sentences are broken there, between words. Absent: they are not broken. */
  columns?: number | undefined;
}

/** A command or a diff, in full or cut to its beginning and end. Empty if the subject already shows all of it. */
export function toPreviewLines(
  call: Pick<ToolCall, 'preview' | 'isDiff' | 'subject'>,
  { paint, room }: PreviewStyle,
): string[] {
  if (!hasOwnPreview(call)) return [];
  const text = toSafeText(toVisibleText(call.preview));
  const toStyle = call.isDiff ? toDiffStyle : () => undefined;
  const { lines } = toTextEnds(readText(text), room ?? NO_LIMIT);
  return lines.map((line) => `${INDENT}${paintPieces(line, { paint, style: toStyle(line[0]?.text ?? '') })}`);
}

/** A single line such as a header, in full or cut to its beginning and end. */
export const toLineText = (line: string, { paint, room }: PreviewStyle): string =>
  room === undefined ? line : paintPieces(toLineEnds(line, room.rows * room.columns), { paint, style: undefined });

export const hasOwnPreview = ({ preview, subject }: Pick<ToolCall, 'preview' | 'subject'>): boolean => {
  const text = toSafeText(toVisibleText(preview)).trim();
  return text !== '' && text !== subject;
};

const NO_LIMIT: Room = { rows: Number.POSITIVE_INFINITY, columns: Number.POSITIVE_INFINITY };

const paintPieces = (line: EndsLine, { paint, style }: { paint: Paint; style: Style | undefined }): string =>
  line
    .map(({ text, isNote }) => {
      if (isNote) return paint('dim', text);
      return style === undefined ? text : paint(style, text);
    })
    .join('');

function toTail(lines: readonly string[], { paint, hasCommands }: ResultStyle): string[] {
  if (lines.length === 0) return [paint('dim', `${INDENT}(no output)`)];
  const left = lines.length > OUTPUT_LINES ? lines.length - OUTPUT_LINES : 0;
  const shown = lines.slice(left).map((line) => paint('dim', `${INDENT}${cutLine(line)}`));
  const hint = hasCommands ? '; Ctrl-O shows them' : '';
  return left > 0 ? [paint('dim', `${INDENT}… ${countOf(left)} above${hint}`), ...shown] : shown;
}

/** One very long line must not fill the screen. */
const MAX_LINE_CHARS = 500;
const cutLine = (line: string) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line);

function toOutputLines(output: string): string[] {
  const text = toSafeText(output).trimEnd();
  return text === '' ? [] : text.split('\n');
}

export const countOf = (lines: number): string => `${lines.toLocaleString('en')} line${lines === 1 ? '' : 's'}`;
