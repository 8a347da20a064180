import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolCallPart } from '@ai-sdk/provider';
import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from '../../message.ts';
import { toSentName } from './call-names.ts';
import { type Author, findOriginalParts, type OriginalPart } from './original-parts.ts';
import { type Attaching, toResultParts, toUserParts } from './user-parts.ts';

type UserPart = ReturnType<typeof toUserParts>[number];
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** Converts the stored conversation for the SDK. Original parts go back only to the model that wrote them. */
export function toPrompt(
  { system, messages, attaching }: { system: string; messages: readonly Message[]; attaching?: Attaching | undefined },
  to: AnswerTarget,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system === '' ? [] : [{ role: 'system', content: system }];
  const ids = createUniqueIds();
  /** The model has made calls since the last message of a person. */
  let hasCalled = false;
  let read: UserPart[] = []; // images of the latest results
  for (const message of inCallOrder(messages)) {
    if (message.role === 'tool') read.push(...toResultParts(message, attaching));
    else read = addRead(prompt, read);
    if (message.role === 'user') addAsked(prompt, message, { to, attaching });
    else if (message.role === 'tool') addToolResult(prompt, message, ids);
    else {
      addAnswer(prompt, message, { ...to, ids, isAfterCalls: hasCalled });
      hasCalled ||= message.toolCalls.length > 0;
    }
    if (message.role === 'user') hasCalled = false;
  }
  addRead(prompt, read);
  return prompt;
}

/** After all results of a turn; returns those that are left. */
function addRead(prompt: LanguageModelV4Prompt, read: UserPart[]): UserPart[] {
  if (read.length > 0) addUser(prompt, read);
  return [];
}

/** The ids of calls on the wire. */
interface UniqueIds {
  /** For a call: its id, or another one if an earlier call has the same. */
  ofCall(id: string): string;
  /** For the result of the latest call with this id. */
  ofResult(id: string): string;
}

/**
 * A conversation can have two calls with one id if it was imported, or comes from an earlier version: an answer reused the
 * id of a call that a summary had replaced, and a copy has the originals of both. Servers refuse that. Depends only on what
 * comes before.
 */
function createUniqueIds(): UniqueIds {
  const taken = new Set<string>();
  const latest = new Map<string, string>();
  return {
    ofCall(id) {
      let unique = id;
      for (let n = 2; taken.has(unique); n++) unique = `${id}_${n}`;
      taken.add(unique);
      latest.set(id, unique);
      return unique;
    },
    ofResult: (id) => latest.get(id) ?? id,
  };
}

/** Results are stored as they finish. Chat templates of local servers match them to the calls by their order. */
function inCallOrder(messages: readonly Message[]): Message[] {
  const ordered: Message[] = [];
  let results: ToolMessage[] = [];
  let calls: readonly ToolCall[] = [];
  const flush = () => {
    if (results.length > 1) sortByPlace(results, calls); // one result, or none, is the rule in a long conversation
    for (const result of results) ordered.push(result);
    if (results.length > 0) results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(message);
      continue;
    }
    flush();
    if (message.role === 'assistant') calls = message.toolCalls;
    ordered.push(message);
  }
  flush();
  return ordered;
}

function sortByPlace(results: ToolMessage[], calls: readonly ToolCall[]): void {
  const places = new Map(calls.map(({ id }, place) => [id, place]));
  results.sort((a, b) => (places.get(a.callId) ?? 0) - (places.get(b.callId) ?? 0));
}

/** What a model reads when its answer was cut off at its output limit. */
export const CONTINUE =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';

/** Separates a continued answer into the two answers that it was, so that the next request extends the last one. */
function addAnswer(prompt: LanguageModelV4Prompt, message: AssistantMessage, to: AnswerPlace): void {
  if (!message.cutPart) {
    addAssistant(prompt, toAssistantParts(message, to));
    return;
  }
  const { cutPart, content, reasoning = '', providerData, ...rest } = message;
  const { contentChars, reasoningChars } = cutPart;
  const beginning: AssistantMessage = {
    role: 'assistant',
    content: content.slice(0, contentChars),
    reasoning: reasoning.slice(0, reasoningChars),
    toolCalls: [],
    ...(cutPart.providerData && { providerData: cutPart.providerData }),
  };
  addAssistant(prompt, toAssistantParts(beginning, to));
  addUser(prompt, [{ type: 'text', text: CONTINUE }]);
  const continuation: AssistantMessage = {
    ...rest,
    content: content.slice(contentChars),
    reasoning: reasoning.slice(reasoningChars),
    ...(providerData && { providerData }),
  };
  addAssistant(prompt, toAssistantParts(continuation, { ...to, isAfterCalls: false }));
}

function addAsked(
  prompt: LanguageModelV4Prompt,
  message: UserMessage,
  { to, attaching }: { to: AnswerTarget; attaching: Attaching | undefined },
): void {
  const isFirst = prompt.every(({ role }) => role === 'system');
  const signed = isFirst ? splitSigned(message, to) : undefined;
  if (signed) addAssistant(prompt, signed.parts);
  addUser(prompt, toUserParts(signed?.rest ?? message, attaching));
}

/** A summary goes back to the maker that signed it as a block of its own, which has to be the first one. The rest of its message follows. */
function splitSigned(
  message: UserMessage,
  to: AnswerTarget,
): { parts: AssistantPart[]; rest: UserMessage } | undefined {
  const { content, summary } = message;
  if (!summary?.signed) return undefined;
  const { at, chars, providerData } = summary.signed;
  const text = content.slice(at, at + chars);
  const original = findOriginalParts({ role: 'assistant', content: text, toolCalls: [], providerData }, to);
  const block = original?.find(({ type }) => type === 'text');
  if (block?.type !== 'text' || block.text !== text) return undefined;
  const rest = { ...message, content: `${content.slice(0, at)}${content.slice(at + chars).trimStart()}` };
  return { parts: [{ type: 'text', text, ...(block.options && { providerOptions: block.options }) }], rest };
}

// Adjacent user messages are merged, because some chat templates require alternating roles.
function addUser(prompt: LanguageModelV4Prompt, parts: UserPart[]): void {
  const last = prompt.at(-1);
  if (last?.role !== 'user') {
    prompt.push({ role: 'user', content: joinText(parts) });
    return;
  }
  last.content = joinText([...last.content, ...parts]);
}

/** Merges adjacent texts, because some servers accept only a single text. */
function joinText(parts: readonly UserPart[]): UserPart[] {
  const joined: UserPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.type === 'text' && part.type === 'text') last.text += `\n\n${part.text}`;
    else joined.push(part);
  }
  return joined;
}

function addToolResult(prompt: LanguageModelV4Prompt, message: ToolMessage, ids: UniqueIds): void {
  const { callId, name, output, outcome, notice } = message;
  const value = notice === undefined ? output : `${output}\n\n[Headgate: ${notice}]`;
  const result = {
    type: 'tool-result' as const,
    toolCallId: ids.ofResult(callId),
    toolName: toSentName(name),
    output: { type: outcome === 'done' ? ('text' as const) : ('error-text' as const), value },
  };
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(result);
  else prompt.push({ role: 'tool', content: [result] });
}

/** What a model reads between two answers of which a copy of the conversation has not kept what was said between them. */
export const NOT_KEPT =
  '<environment>\nWhat was said between the answer above and the one below is not in this copy of the conversation.\n</environment>';

/**
 * An answer that was cancelled before its first word is left out, because it would be rejected as empty. Two answers in a row,
 * which many servers reject, are separated: files of conversations do not have the daemon's messages to the model.
 */
function addAssistant(prompt: LanguageModelV4Prompt, content: AssistantPart[]): void {
  if (content.length === 0) return;
  if (prompt.at(-1)?.role === 'assistant') addUser(prompt, [{ type: 'text', text: NOT_KEPT }]);
  prompt.push({ role: 'assistant', content });
}

interface AnswerTarget extends Author {
  sendsPlainReasoning: boolean;
}

/** Where an answer stands. */
interface AnswerPlace extends AnswerTarget {
  ids: UniqueIds;
  /** The model has made calls since the last message of a person. */
  isAfterCalls: boolean;
}

function toAssistantParts(message: AssistantMessage, to: AnswerPlace): AssistantPart[] {
  const original = findOriginalParts(message, to);
  if (original) {
    return withoutLastReasoning(original.filter(isKept)).map((part) => {
      const metadata = part.options ? { providerOptions: part.options } : {};
      if (part.type !== 'tool-call') return { type: part.type, text: part.text, ...metadata };
      return { ...toToolCallPart(part.call, to.ids), ...metadata };
    });
  }
  const parts: AssistantPart[] = [];
  const { content, toolCalls, reasoning } = message;
  // DeepSeek requires the thoughts of all answers of a turn with calls, in all later requests. Others are never sent, so
  // that a request does not depend on which turn is the last.
  const isOfCalls = toolCalls.length > 0 || (to.isAfterCalls && !isBlank(content));
  if (to.sendsPlainReasoning && isOfCalls && reasoning) {
    parts.push({ type: 'reasoning', text: reasoning });
  }
  if (!isBlank(content)) parts.push({ type: 'text', text: content });
  return [...parts, ...toolCalls.map((call) => toToolCallPart(call, to.ids))];
}

/** Anthropic refuses texts of only white space, also in requests that come later. */
const isBlank = (text: string): boolean => text.trim() === '';

/** Google signs empty texts, too. */
const isKept = (part: OriginalPart): boolean =>
  part.type !== 'text' || !isBlank(part.text) || part.options !== undefined;

/** Without reasoning that led to nothing, because the answer was cut off. OpenAI and Anthropic refuse it. */
const withoutLastReasoning = (parts: readonly OriginalPart[]): readonly OriginalPart[] =>
  parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1);

function toToolCallPart({ id, name, arguments: text }: ToolCall, ids: UniqueIds): LanguageModelV4ToolCallPart {
  return { type: 'tool-call', toolCallId: ids.ofCall(id), toolName: toSentName(name), input: toInput(text) };
}

/**
 * Returns the arguments as the model wrote them if they are an object. Other values are wrapped, because upstreams
 * reject a history with such arguments, and the model must see its mistake.
 */
function toInput(text: string): unknown {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { malformed_arguments: text };
  // The SDK's parser rejects these names in a text but accepts them in an object.
  return /__proto__|constructor|\\u/.test(text) ? value : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller wraps it
  }
}
