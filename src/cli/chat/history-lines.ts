import type { Attachment, HistoryMessage, StreamEventOf } from '../../../protocol/stream-events.ts';
import { toMarkdownLines } from '../terminal/markdown.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { countOf, toHeaderText } from '../terminal/tool-lines.ts';
import { cutToRow } from '../terminal/wrap.ts';

/** How many earlier messages are shown, and how many lines of each. */
const SHOWN_MESSAGES = 20;
const SHOWN_LINES = 60;

/** The end of a stored conversation, one list of lines per message. `truncated`: older ones exist. */
export function toHistoryLines(
  { messages, truncated = false }: { messages: readonly HistoryMessage[]; truncated?: boolean },
  { paint, columns }: Sheet,
): string[][] {
  const shown = messages.slice(-SHOWN_MESSAGES);
  const hasOlder = truncated || shown.length < messages.length;
  const older = hasOlder ? [[paint('dim', '… older messages are on the page')]] : [];
  const failed = new Set(shown.flatMap(({ outcome = 'done', call_id }) => (outcome === 'done' ? [] : [call_id])));
  return [...older, ...shown.map((message) => toMessageLines(message, { paint, columns, failed }))].filter(
    (lines) => lines.length > 0,
  );
}

function toMessageLines(
  { role, content, partial, attachments, failed, tool_calls: calls }: HistoryMessage,
  sheet: Sheet & { failed: ReadonlySet<string | undefined> },
): string[] {
  const { paint, columns } = sheet;
  switch (role) {
    case 'user':
      return [
        ...toUserLines(withFiles(content ?? '', attachments), { paint, from: '' }),
        ...(failed ? [paint('red', `  ✖ not answered: ${toSafeText(failed.text)}`)] : []),
      ];
    case 'tool':
      return []; // the line of its call shows whether it failed
    case 'assistant': {
      const lines = content === null || content === '' ? [] : toMarkdownLines(content, sheet);
      const stopped = partial === true ? [paint('dim', '(stopped)')] : [];
      const ran = (calls ?? []).map(({ id, name, arguments: args }) => {
        const mark = sheet.failed.has(id) ? paint('red', '✖') : paint('green', '✔');
        return cutToRow(`${mark} ${toHeaderText({ name, header: name, subject: subjectOf(args) }, paint)}`, columns);
      });
      return [...keepEnd(lines, paint), ...stopped, ...ran];
    }
  }
}

/** A message that was just accepted. `isOurs`: its origin is not named. */
export function toTurnLines(
  { message, source, attachments }: StreamEventOf<'user_turn'>,
  { paint, isOurs }: { paint: Paint; isOurs: boolean },
): string[] {
  const from = { person: 'from another client', cron: 'scheduled', agent: 'from a program' }[source];
  return toUserLines(withFiles(message, attachments), { paint, from: isOurs ? '' : from });
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

type CutEvent = StreamEventOf<'clear_ui' | 'rewound' | 'message_removed' | 'compacted'>;

function toCutText(event: CutEvent): string {
  if (event.type === 'clear_ui') return 'a new conversation';
  if (event.type === 'message_removed') return 'the failed message was removed';
  if (event.type === 'compacted') return 'summarized for the model; the messages stay stored';
  return { rewind: 'taken back', retry: 'the last message again', edit: 'in place of an earlier message' }[
    event.reason
  ];
}

/** The text of a message, and the names of its attachments. */
const withFiles = (text: string, attachments: readonly Attachment[] = []): string =>
  [text, ...attachments.map(({ filename }) => `+ ${filename}`)].filter((line) => line !== '').join('\n');

/** A person's message; `from` names its origin unless this client sent it. */
function toUserLines(text: string, { paint, from }: { paint: Paint; from: string }): string[] {
  const [first = '', ...rest] = toSafeText(text).split('\n');
  const where = from === '' ? '' : paint('dim', ` (${from})`);
  return [
    `${paint(['bold', 'cyan'], `› ${first}`)}${where}`,
    ...rest.map((line) => paint(['bold', 'cyan'], `  ${line}`)),
  ];
}

function keepEnd(lines: string[], paint: Paint): string[] {
  if (lines.length <= SHOWN_LINES) return lines;
  const left = lines.length - SHOWN_LINES;
  return [paint('dim', `… ${countOf(left)} above`), ...lines.slice(left)];
}

/** One line from stored arguments: tools put the most important argument first. */
function subjectOf(args: string): string | undefined {
  const [line = ''] = toSafeText(firstText(args)).split('\n');
  return line === '' ? undefined : line;
}

function firstText(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
    return values.find((text): text is string => typeof text === 'string') ?? '';
  } catch {
    return ''; // malformed: the call failed
  }
}
