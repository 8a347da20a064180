import type { HistoryMessage, HistoryNote } from '../../../../protocol/stream-events.ts';
import { addSpending } from '../../../../protocol/text/spending/spending-words.ts';
import { readTodo, TODO_TOOL, toTodoWords } from '../../../../protocol/text/todo-words.ts';
import { type Block, isStored, isTool, replaceLast, type ToolBlock } from './blocks.ts';
import { type Unshown, unshownAfter } from './spent.ts';
import { emptyTool, finishTool, toDecision, toEnd } from './tool-blocks.ts';

/** A page of stored messages and notes as blocks, keyed by position so that pages never share a key. */
export function toBlocks(messages: readonly HistoryMessage[], notes: readonly HistoryNote[] = []): readonly Block[] {
  let blocks: readonly Block[] = [];
  let told = 0;
  let unshown: Unshown;
  const tellBefore = (seq: number) => {
    for (let note = notes[told]; note && note.after_seq < seq; note = notes[told]) {
      blocks = addNote(blocks, note, `n${note.after_seq}.${told}`);
      told += 1;
    }
  };
  for (const message of messages) {
    const key = `h${message.seq}`;
    tellBefore(message.seq);
    switch (message.role) {
      case 'user':
        blocks = blocks.concat({
          kind: 'user',
          key,
          text: message.content ?? '',
          source: 'person',
          seq: message.seq,
          sentMs: message.created_ms,
          ...(message.attachments && { attachments: message.attachments }),
          ...(message.failed && { failed: message.failed }),
        });
        break;
      case 'assistant':
        blocks = blocks.concat(toAnswer(message, key, unshown));
        break;
      case 'tool':
        blocks = addResult(blocks, message, key);
    }
    unshown = unshownAfter(unshown, message);
  }
  tellBefore(Number.POSITIVE_INFINITY);
  return blocks.map((block) => (isNote(block) ? block : { ...block, stored: true }));
}

function addNote(blocks: readonly Block[], note: HistoryNote, key: string): readonly Block[] {
  if (note.kind === 'compacted') {
    return [...blocks, { kind: 'summary', key, toSeq: note.to_seq, text: note.summary }];
  }
  if (note.kind !== 'decision') return [...blocks, { kind: 'note', key, level: note.kind, text: note.message }];
  const { question, calls, approved } = note;
  const names = calls.map(({ name }) => name);
  const block: Block = { kind: 'decision', key, question, names, decision: toDecision(note) };
  // A decision goes before its calls; a decision not to repeat a call goes after it.
  const first = question === 'tools' || approved ? findFirstCall(blocks, calls) : -1;
  return first < 0 ? [...blocks, block] : blocks.toSpliced(first, 0, block);
}

/** The index of the first of these calls; if several calls share an id, the latest counts. */
function findFirstCall(blocks: readonly Block[], calls: readonly { call_id: string }[]): number {
  const places = calls.map(({ call_id }) => blocks.findLastIndex((block) => isTool(block) && block.callId === call_id));
  return Math.min(...places.filter((place) => place >= 0), blocks.length);
}

/** Prepends an older page. A result whose call is on the older page moves to that call. */
export function joinPages(older: readonly Block[], newer: readonly Block[]): readonly Block[] {
  const waiting = new Map(older.filter(isUnanswered).map((tool) => [tool.callId, tool]));
  const orphans = new Map<ToolBlock, ToolBlock>();
  for (const block of newer) {
    if (isNote(block)) continue;
    if (!isTool(block) || !isStored(block)) break; // a page can only begin with them
    const call = waiting.get(block.callId);
    if (call) orphans.set(call, block);
  }
  const moved = new Set<Block>(orphans.values());
  const joined = older.map((block) => {
    const orphan = isTool(block) ? orphans.get(block) : undefined;
    if (!orphan) return block;
    const { phase, result, wholeBytes, exitCode, durationMs, notSandboxed, ruling, attachments, todo } = orphan;
    return { ...block, phase, result, wholeBytes, exitCode, durationMs, notSandboxed, ruling, attachments, todo };
  });
  return [...joined, ...newer.filter((block) => !moved.has(block))];
}

function toAnswer(message: HistoryMessage, key: string, unshown: Unshown): Block[] {
  const { content, reasoning = '', partial = false, tool_calls: calls, created_ms: endedMs } = message;
  const said = Boolean(content) || reasoning !== '';
  const spent = content ? addSpending(unshown, message.spent) : undefined;
  const shown = { ...(endedMs && { endedMs }), ...(spent && { spent }) };
  const answer: Block[] = said
    ? [{ kind: 'answer', key, text: content ?? '', reasoning, streaming: false, partial, ...shown }]
    : [];
  const tools = (calls ?? []).map((call, index): Block => {
    const card = emptyTool({ call_id: call.id, name: call.name }, `${key}.${index}`);
    return { ...card, subject: toSubject(call), recalled: call };
  });
  return [...answer, ...tools];
}

function addResult(blocks: readonly Block[], message: HistoryMessage, key: string): readonly Block[] {
  const { call_id = '', name = 'tool', content, is_error = false } = message;
  const { outcome = is_error ? 'failed' : 'done' } = message;
  const output = content ?? '';
  const isItsCall = (block: Block): block is ToolBlock => isUnanswered(block) && block.callId === call_id;
  const { ruling } = message;
  if (!blocks.some(isItsCall)) {
    const end = { ...toResultEnd(message), type: 'tool_result', call_id, name, output, outcome, is_error } as const;
    const isNew = (block: Block): block is ToolBlock => isTool(block) && block.callId === call_id;
    return replaceLast(finishTool(blocks, end, key), isNew, (tool) => ({ ...tool, ruling, todo: message.todo }));
  }
  const ended = { phase: outcome, result: output, ...toEnd(message), ruling, todo: message.todo };
  return replaceLast(blocks, isItsCall, (tool) => ({ ...tool, ...ended }));
}

const toResultEnd = ({ whole_bytes, exit_code, duration_ms, not_sandboxed, attachments }: HistoryMessage) => ({
  whole_bytes,
  exit_code,
  duration_ms,
  not_sandboxed,
  ...(attachments && { attachments }),
});

/** One line from the stored arguments: tools put the most important argument first. */
function toSubject({ name, arguments: args }: { name: string; arguments: string }): string | undefined {
  const todo = name === TODO_TOOL ? readTodo(args) : undefined;
  if (todo) return toTodoWords(todo);
  const first = firstText(args);
  const line = first.split('\n')[0] ?? '';
  const shown = line.length > 160 ? `${line.slice(0, 160)}…` : line;
  return shown === '' ? undefined : `${shown}${first.includes('\n') ? ' …' : ''}`;
}

function firstText(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    const texts = typeof value === 'object' && value !== null ? Object.values(value) : [];
    return texts.find((text): text is string => typeof text === 'string') ?? '';
  } catch {
    return ''; // malformed arguments; the result reports them
  }
}

const isNote = ({ kind }: Block) => kind === 'note' || kind === 'decision' || kind === 'summary';
const isUnanswered = (block: Block): block is ToolBlock => isTool(block) && block.result === undefined;
