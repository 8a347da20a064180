import type { PastRuling } from '../../../protocol/events/rules.ts';
import type { TodoItem } from '../../../protocol/events/todo.ts';
import type { Attachment, HistoryMessage, HistoryNote, StreamEventOf } from '../../../protocol/stream-events.ts';
import { isPlainRuling } from '../../../protocol/text/rule-words.ts';
import { addSpending, type SpendingSum, toSpendingWords } from '../../../protocol/text/spending/spending-words.ts';
import {
  findTodo,
  isOpenTodo,
  readTodo,
  TODO_TOOL,
  toTodoLines,
  toTodoWords,
} from '../../../protocol/text/todo-words.ts';
import { type Here, toClockTime, toLength } from '../local-time.ts';
import { toMarkdownLines } from '../terminal/markdown.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { countOf, toDecidedLine, toHeaderText } from '../terminal/tool-lines.ts';
import { widthOf } from '../terminal/width.ts';
import { cutToRow, toWordRows } from '../terminal/wrap.ts';
import { firstArgument } from './cards/first-argument.ts';

/** How many earlier messages are shown, and how many lines of each. */
const SHOWN_MESSAGES = 20;
const SHOWN_LINES = 60;

interface Stored {
  messages: readonly HistoryMessage[];
  /** Older messages exist. */
  truncated?: boolean;
  notes?: readonly HistoryNote[] | undefined;
  /** The agent's checklist, if it is not in these messages. */
  todo?: readonly TodoItem[] | undefined;
}

/** The end of a stored conversation, one list of lines per message. Without `here`, times are left out. */
export function toHistoryLines(
  { messages, truncated = false, notes = [], todo = findTodo(messages) }: Stored,
  { paint, columns }: Sheet,
  here: Here | undefined,
): string[][] {
  const shown = messages.slice(-SHOWN_MESSAGES);
  const hasOlder = truncated || shown.length < messages.length;
  const older = hasOlder ? [[paint('dim', '… older messages are on the page')]] : [];
  const failed = new Set(shown.flatMap(({ outcome = 'done', call_id }) => (outcome === 'done' ? [] : [call_id])));
  const rulings = new Map(shown.flatMap(({ call_id, ruling }) => (ruling ? [[call_id, ruling]] : [])));
  const first = shown[0]?.seq ?? 0;
  const cuts = notes.filter(({ kind, after_seq }) => kind === 'compacted' && after_seq >= first);
  const blocks = shown.map((message, index) => ({
    seq: message.seq,
    lines: [
      ...toMessageLines(message, { paint, columns, failed, rulings, here }),
      ...(isLastAnswer(message, shown[index + 1])
        ? toTimeLine({ atMs: message.created_ms, spent: spentUntil(shown, index) }, paint, here)
        : []),
    ],
  }));
  const lines = cuts.map(({ after_seq }) => ({
    seq: after_seq,
    lines: [paint('dim', toCutLine({ type: 'compacted' }))],
  }));
  const all = [...blocks, ...lines].sort((one, other) => one.seq - other.seq); // keeps a cut behind its message
  const checklist = todo && isOpenTodo(todo) ? toChecklist(todo, { paint, columns }) : [];
  return [...older, ...all.map((block) => block.lines), checklist].filter((block) => block.length > 0);
}

/** The agent's checklist, which goes on. */
const toChecklist = (items: readonly TodoItem[], { paint, columns }: Sheet): string[] => [
  `${paint('bold', 'Checklist')} ${paint('dim', toTodoWords(items))}`,
  ...toTodoLines(items).map((line) => cutToRow(`  ${toSafeText(line)}`, columns)),
];

/** Nothing of its turn follows. */
const isLastAnswer = ({ role, content, tool_calls }: HistoryMessage, next: HistoryMessage | undefined): boolean =>
  role === 'assistant' && Boolean(content) && tool_calls === null && (next === undefined || next.role === 'user');

/** What the answers to a message took together. */
export const spentUntil = (shown: readonly HistoryMessage[], last: number): SpendingSum | undefined =>
  shown
    .slice(shown.findLastIndex(({ role }, index) => role === 'user' && index < last) + 1, last + 1)
    .reduce<SpendingSum | undefined>((sum, { spent }) => addSpending(sum, spent), undefined);

/** When an answer was complete, and what it and the calls before it took; no line without a time. */
export function toTimeLine(
  { atMs, spent }: { atMs: number | undefined; spent: SpendingSum | undefined },
  paint: Paint,
  here: Here | undefined,
): string[] {
  if (atMs === undefined || here === undefined) return [];
  const took = spent === undefined ? '' : ` · ${toSafeText(toSpendingWords(spent, toLength))}`;
  return [paint('dim', `${toClockTime(atMs, here)}${took}`)];
}

/** How the calls ended, by their ids. */
interface Ends {
  failed: ReadonlySet<string | undefined>;
  rulings: ReadonlyMap<string | undefined, PastRuling>;
}

function toMessageLines(
  { role, content, partial, attachments, failed, tool_calls: calls, created_ms: atMs }: HistoryMessage,
  sheet: Sheet & Ends & { here: Here | undefined },
): string[] {
  const { paint, columns } = sheet;
  switch (role) {
    case 'user':
      return [
        ...toUserLines(withFiles(content ?? '', attachments), { paint, columns, from: '', atMs, here: sheet.here }),
        ...(failed ? [paint('red', `  ✖ not answered: ${toSafeText(failed.text)}`)] : []),
      ];
    case 'tool':
      return []; // the line of its call shows whether it failed
    case 'assistant': {
      const lines = content === null || content === '' ? [] : toMarkdownLines(content, sheet);
      const stopped = partial === true ? [paint('dim', '(stopped)')] : [];
      const ran = (calls ?? []).flatMap(({ id, name, arguments: args }) => {
        const mark = sheet.failed.has(id) ? paint('red', '✖') : paint('green', '✔');
        const head = `${mark} ${toHeaderText({ name, header: name, subject: subjectOf(name, args) }, paint)}`;
        const ruling = sheet.rulings.get(id);
        const told = ruling && !isPlainRuling(ruling) ? toDecidedLine(ruling, paint) : [];
        return [head, ...told].map((line) => cutToRow(line, columns));
      });
      return [...keepEnd(lines, paint), ...stopped, ...ran];
    }
  }
}

/** A message that was just accepted. `isOurs`: its origin is not named. */
export function toTurnLines(
  { message, source, attachments, created_ms: atMs }: StreamEventOf<'user_turn'>,
  { paint, columns, isOurs, here }: Sheet & { isOurs: boolean; here: Here | undefined },
): string[] {
  const from = { person: 'from another client', cron: 'scheduled', agent: 'from a program' }[source];
  return toUserLines(withFiles(message, attachments), { paint, columns, from: isOurs ? '' : from, atMs, here });
}

/** An event that is neither a part of an answer nor a question. */
export type Notice = StreamEventOf<
  | 'wait_start'
  | 'wait_stop'
  | 'status'
  | 'info'
  | 'error'
  | 'clear_ui'
  | 'history'
  | 'settings_changed'
  | 'rewound'
  | 'message_removed'
  | 'compacted'
>;

/** The line between messages above, which no longer count, and those below. */
export function toCutLine(event: CutEvent): string {
  return `${'─'.repeat(8)} ${toCutText(event)} ${'─'.repeat(8)}`;
}

type CutEvent = StreamEventOf<'rewound'> | { type: 'clear_ui' } | { type: 'message_removed' } | { type: 'compacted' };

function toCutText(event: CutEvent): string {
  if (event.type === 'clear_ui') return 'a new conversation';
  if (event.type === 'message_removed') return 'the failed message was removed';
  if (event.type === 'compacted') return 'summarized for the model; /summary shows the text';
  return { rewind: 'taken back', retry: 'the last message again', edit: 'in place of an earlier message' }[
    event.reason
  ];
}

/** The text of a message, and the names of its attachments. */
const withFiles = (text: string, attachments: readonly Attachment[] = []): string =>
  [text, ...attachments.map(({ filename }) => `+ ${filename}`)].filter((line) => line !== '').join('\n');

interface Origin extends Sheet {
  /** Empty if this client sent it. */
  from: string;
  atMs: number | undefined;
  here: Here | undefined;
}

/** Cells before each row of a message. */
const INDENTED = 2;

/** A person's message, with its origin and its time behind the first line. */
function toUserLines(text: string, { paint, columns, from, atMs, here }: Origin): string[] {
  const room = columns - INDENTED;
  const [first = [], ...rest] = toSafeText(text)
    .split('\n')
    .map((line) => toWordRows(line, room));
  const time = atMs === undefined || here === undefined ? '' : ` · ${toClockTime(atMs, here)}`;
  const behind = `${from === '' ? '' : ` (${from})`}${time}`;
  const hasRoom = widthOf(`${first.at(-1)}${behind}`) <= room;
  const rows = first.map((row, index) => paint(['bold', 'cyan'], `${index === 0 ? '› ' : '  '}${row}`));
  const last = rows.pop() ?? '';
  return [
    ...rows,
    `${last}${behind !== '' && hasRoom ? paint('dim', behind) : ''}`,
    ...(hasRoom ? [] : [paint('dim', `  ${behind.trim()}`)]),
    ...rest.flat().map((row) => paint(['bold', 'cyan'], `  ${row}`)),
  ];
}

function keepEnd(lines: string[], paint: Paint): string[] {
  if (lines.length <= SHOWN_LINES) return lines;
  const left = lines.length - SHOWN_LINES;
  return [paint('dim', `… ${countOf(left)} above`), ...lines.slice(left)];
}

/** One line from stored arguments. */
function subjectOf(name: string, args: string): string | undefined {
  const todo = name === TODO_TOOL ? readTodo(args) : undefined;
  if (todo) return toTodoWords(todo);
  const [line = ''] = toSafeText(firstArgument(args)).split('\n');
  return line === '' ? undefined : line;
}
