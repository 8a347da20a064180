import { GatewayError } from '../../../protocol/errors.ts';
import type { ConversationFile } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileAgent } from '../../../protocol/methods/conversation/file-agent.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import { MAX_DEPTH } from '../../agent/subagents/sub-agents.ts';

/** Checks what the schema of a ConversationFile cannot: pairs of calls and results, and places of files and notes. */
export function checkFile({ messages, notes, files, agents = [] }: ConversationFile): void {
  checkPairs(messages, 'messages');
  checkAgents(messages, agents);
  checkPlaces(messages, files.length);
  let before = 0;
  for (const [index, { after }] of notes.entries()) {
    if (after > messages.length) throw problem(`notes.${index}.after`, `the file has only ${messages.length} messages`);
    if (after < before) throw problem(`notes.${index}.after`, 'notes must be in the order of the messages');
    before = after;
  }
}

/**
 * How many calls of each name have no result so far, by their ids. Two calls of an answer may have the same id. Maps, because a
 * file with thousands of calls in each answer must not keep the daemon from everything else.
 */
type OpenCalls = Map<string, Map<string, number>>;

/** Every call has exactly one result, before the next message that is not a result. */
function checkPairs(messages: readonly FileMessage[], place: string): void {
  let open: OpenCalls = new Map();
  for (const [index, message] of messages.entries()) {
    const at = `${place}.${index}`;
    if (message.role === 'tool') closeCall(open, message, at);
    else requireClosed(open, at);
    if (message.role === 'assistant') {
      checkCutPart(message, at);
      open = openCalls(message.toolCalls);
    }
  }
  requireClosed(open, place);
}

function openCalls(calls: Extract<FileMessage, { role: 'assistant' }>['toolCalls']): OpenCalls {
  const open: OpenCalls = new Map();
  for (const { id, name } of calls) {
    const names = open.get(id) ?? new Map<string, number>();
    open.set(id, names.set(name, (names.get(name) ?? 0) + 1));
  }
  return open;
}

/** Each was started by a call of the conversation, or of one before it. */
function checkAgents(messages: readonly FileMessage[], agents: readonly FileAgent[]): void {
  const depths: number[] = [];
  for (const [index, agent] of agents.entries()) {
    const at = `agents.${index}`;
    const { parent } = agent;
    if (parent !== undefined && parent >= index)
      throw problem(`${at}.parent`, 'must be the place of a sub-agent before it');
    depths.push(parent === undefined ? 1 : (depths[parent] ?? 0) + 1);
    if ((depths[index] ?? 0) > MAX_DEPTH) throw problem(`${at}.parent`, `there are at most ${MAX_DEPTH} levels`);
    checkCall(agent, parent === undefined ? { messages } : agents[parent], at);
    checkPairs(agent.messages, `${at}.messages`);
  }
}

function checkCall(
  { callId, messages, omittedMessages }: FileAgent,
  above: { messages: readonly FileMessage[]; omittedMessages?: number | undefined } | undefined,
  at: string,
): void {
  if (above?.omittedMessages === undefined && !hasCall(above?.messages ?? [], callId))
    throw problem(`${at}.callId`, 'no call has this id');
  if (omittedMessages !== undefined && messages.length > 0)
    throw problem(`${at}.omittedMessages`, 'only for a sub-agent without messages');
}

const hasCall = (messages: readonly FileMessage[], callId: string): boolean =>
  messages.some((message) => message.role === 'assistant' && message.toolCalls.some(({ id }) => id === callId));

function closeCall(open: OpenCalls, { callId, name }: Extract<FileMessage, { role: 'tool' }>, at: string): void {
  const names = open.get(callId);
  if (!names) throw problem(`${at}.callId`, 'no call before it has this id and no result yet');
  const [first = ''] = names.keys();
  const count = names.get(name);
  if (count === undefined) throw problem(`${at}.name`, `the call was of "${first.slice(0, 64)}"`);
  if (count > 1) names.set(name, count - 1);
  else names.delete(name);
  if (names.size === 0) open.delete(callId);
}

function requireClosed(open: OpenCalls, at: string): void {
  const [id] = open.keys();
  if (id !== undefined) throw problem(at, `the result of call "${id.slice(0, 64)}" is missing`);
}

function checkCutPart(
  { content, reasoning = '', cutPart }: Extract<FileMessage, { role: 'assistant' }>,
  at: string,
): void {
  if (!cutPart) return;
  if (cutPart.contentChars > content.length) throw problem(`${at}.cutPart.contentChars`, 'longer than the content');
  if (cutPart.reasoningChars > reasoning.length)
    throw problem(`${at}.cutPart.reasoningChars`, 'longer than the reasoning');
}

function checkPlaces(messages: readonly FileMessage[], files: number): void {
  const used = new Set<number>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user') continue;
    for (const [which, place] of (message.files ?? []).entries()) {
      if (place >= files) throw problem(`messages.${index}.files.${which}`, `there are only ${files} files`);
      used.add(place);
    }
  }
  for (let place = 0; place < files; place += 1)
    if (!used.has(place)) throw problem(`files.${place}`, 'no message has this file');
}

/** The error for a place in the file. */
export const problem = (path: string, what: string) => new GatewayError('INVALID_REQUEST', `${path}: ${what}`);
