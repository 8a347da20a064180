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

/** A call without a result so far. Two calls of an answer may have the same id. */
interface OpenCall {
  id: string;
  name: string;
}

/** Every call has exactly one result, before the next message that is not a result. */
function checkPairs(messages: readonly FileMessage[], place: string): void {
  let open: readonly OpenCall[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `${place}.${index}`;
    if (message.role === 'tool') open = withoutCall(open, message, at);
    else if (open[0]) throw problem(at, missingResult(open[0]));
    if (message.role === 'assistant') {
      checkCutPart(message, at);
      open = message.toolCalls;
    }
  }
  if (open[0]) throw problem(place, missingResult(open[0]));
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

function withoutCall(
  open: readonly OpenCall[],
  { callId, name }: Extract<FileMessage, { role: 'tool' }>,
  at: string,
): readonly OpenCall[] {
  const same = open.filter(({ id }) => id === callId);
  if (!same[0]) throw problem(`${at}.callId`, 'no call before it has this id and no result yet');
  const answered = same.find((call) => call.name === name);
  if (!answered) throw problem(`${at}.name`, `the call was of "${same[0].name.slice(0, 64)}"`);
  return open.toSpliced(open.indexOf(answered), 1);
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

const missingResult = ({ id }: OpenCall): string => `the result of call "${id.slice(0, 64)}" is missing`;

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
