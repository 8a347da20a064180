import type { Attachment, HistoryNote } from '../../../protocol/stream-events.ts';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../../agent/message.ts';
import { fence } from '../../content/fence.ts';
import { toMoment } from '../../day.ts';
import type { StoredMessage } from '../history/messages.ts';

interface Conversation {
  title: string;
  pages: AsyncIterable<StoredMessage[]>;
  /** In the order of the messages that they follow. */
  notes: readonly HistoryNote[];
}

/** A conversation for people, as Markdown, piece by piece. Times are in UTC. */
export async function* toMarkdown({ title, pages, notes }: Conversation): AsyncGenerator<string> {
  const waiting = [...notes];
  const notesBefore = (seq: number): string[] => {
    const next = waiting.findIndex((note) => note.after_seq >= seq);
    return waiting.splice(0, next < 0 ? waiting.length : next).map(toNote);
  };
  yield `# ${toLine(title)}\n`;
  for await (const page of pages) {
    const blocks = page.flatMap((stored) => {
      const before = notesBefore(stored.seq);
      dropFailure(waiting, stored);
      return [...before, ...toBlocks(stored)];
    });
    yield blocks.map((block) => `\n${block}\n`).join('');
  }
  yield waiting.map((note) => `\n${toNote(note)}\n`).join('');
}

/** A sub-agent for people. `omitted`: how many messages were too much. */
export interface ToldAgent {
  title: string;
  outcome: string;
  messages: readonly StoredMessage[];
  omitted: number;
}

/** What sub-agents read and said, after the conversation. */
export async function* toAgentSections(agents: AsyncIterable<ToldAgent>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { title, outcome, messages, omitted } of agents) {
    if (isFirst) yield '\n# Sub-agents\n';
    isFirst = false;
    const left =
      omitted > 0 ? [`*${omitted} messages were left out, because the file would have become too long.*`] : [];
    const blocks = [`## ${toLine(title)} (${outcome})`, ...messages.flatMap(toAgentBlocks), ...left];
    yield blocks.map((block) => `\n${block}\n`).join('');
  }
}

/** Its task is no message of the person. */
const toAgentBlocks = (stored: StoredMessage): string[] => {
  const [heading = '', ...rest] = toBlocks(stored);
  return [stored.message.role === 'user' ? '**Task**' : heading.replace(/^## /, '### '), ...rest];
};

/** A failed message says itself why it was not answered. */
function dropFailure(notes: HistoryNote[], { seq, message }: StoredMessage): void {
  const failed = message.role === 'user' ? message.failed : undefined;
  if (!failed) return;
  const index = notes.findIndex(
    (note) => note.kind === 'error' && note.after_seq === seq && note.message.endsWith(failed.text),
  );
  if (index >= 0) notes.splice(index, 1);
}

function toBlocks({ message, createdMs }: StoredMessage): string[] {
  const heading = `## ${NAMES[message.role]} · ${toTime(createdMs)}`;
  switch (message.role) {
    case 'user':
      return [heading, message.content, ...toFiles(message.attachments), ...toFailure(message)].filter(isShown);
    case 'assistant':
      return [
        heading,
        ...toReasoning(message),
        message.content,
        ...message.toolCalls.map(toCall),
        ...toEnd(message),
      ].filter(isShown);
    case 'tool':
      return toResult(message);
  }
}

const NAMES = { user: 'You', assistant: 'Assistant', tool: 'Tool' };

const isShown = (block: string): boolean => block.trim() !== '';

const toTime = (ms: number): string => `${new Date(toMoment(ms)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const toFiles = (attachments: readonly Attachment[] = []): string[] =>
  attachments.map(
    ({ filename, mime_type, size_bytes }) => `*File: ${toLine(filename)} (${mime_type}, ${size_bytes} bytes)*`,
  );

const toFailure = ({ failed }: Extract<Message, { role: 'user' }>): string[] =>
  failed ? [`*Not answered: ${toLine(failed.text)}*`] : [];

const toReasoning = ({ reasoning = '' }: AssistantMessage): string[] =>
  reasoning.trim() === '' ? [] : ['<details><summary>Reasoning</summary>', fence(reasoning), '</details>'];

const toEnd = ({ partial }: AssistantMessage): string[] => (partial ? ['*This answer was cut off.*'] : []);

const toCall = ({ name, arguments: given }: ToolCall): string =>
  `**Call of ${toLine(name)}**\n\n${fence(given, 'json')}`;

function toResult({ name, output, outcome, exitCode, notSandboxed }: ToolMessage): string[] {
  const facts = [
    outcome,
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(notSandboxed === undefined ? [] : ['not sandboxed']),
  ];
  return [`**Result of ${toLine(name)}** (${facts.join(', ')})`, ...(output === '' ? [] : [fence(output)])];
}

function toNote(note: HistoryNote): string {
  if (note.kind === 'compacted') return toQuote(`Summary of ${note.messages} messages:\n${note.summary}`);
  if (note.kind !== 'decision') return toQuote(note.message);
  const { approved, calls, feedback } = note;
  const names = calls.map(({ name }) => name).join(', ');
  return toQuote(`${approved ? 'Approved' : 'Denied'}: ${names}${feedback === '' ? '' : `\n${feedback}`}`);
}

const toQuote = (text: string): string => text.replaceAll(/^/gm, '> ');

/** Text of one line that Markdown leaves as it is. */
const toLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>#|]/g, '\\$&');
