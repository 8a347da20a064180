import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolCallPart } from '@ai-sdk/provider';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../../message.ts';
import { type Author, findOriginalParts } from './original-parts.ts';
import { type Attaching, toUserParts } from './user-parts.ts';

type UserPart = ReturnType<typeof toUserParts>[number];
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** Converts the stored conversation for the SDK. Original parts go back only to the model that wrote them. */
export function toPrompt(
  { system, messages, attaching }: { system: string; messages: readonly Message[]; attaching?: Attaching | undefined },
  to: AnswerTarget,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of inCallOrder(messages)) {
    if (message.role === 'user') addUser(prompt, toUserParts(message, attaching));
    else if (message.role === 'tool') addToolResult(prompt, message);
    else addAnswer(prompt, message, to);
  }
  return prompt;
}

/** Results are stored as they finish. Chat templates of local servers match them to the calls by their order. */
function inCallOrder(messages: readonly Message[]): Message[] {
  const ordered: Message[] = [];
  let results: ToolMessage[] = [];
  let places = new Map<string, number>();
  const flush = () => {
    ordered.push(...results.sort((a, b) => (places.get(a.callId) ?? 0) - (places.get(b.callId) ?? 0)));
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(message);
      continue;
    }
    flush();
    if (message.role === 'assistant') places = new Map(message.toolCalls.map(({ id }, place) => [id, place]));
    ordered.push(message);
  }
  flush();
  return ordered;
}

/** What a model reads when its answer was cut off at its output limit. */
export const CONTINUE =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';

/** Separates a continued answer into the two answers that it was, so that the next request extends the last one. */
function addAnswer(prompt: LanguageModelV4Prompt, message: AssistantMessage, to: AnswerTarget): void {
  const { cutPart, content, reasoning = '', providerData, ...rest } = message;
  if (!cutPart) {
    addAssistant(prompt, toAssistantParts(message, to));
    return;
  }
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
  addAssistant(prompt, toAssistantParts(continuation, to));
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

function addToolResult(prompt: LanguageModelV4Prompt, { callId, name, output, outcome, notice }: ToolMessage): void {
  const value = notice === undefined ? output : `${output}\n\n[Headgate: ${notice}]`;
  const result = {
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName: name,
    output: { type: outcome === 'done' ? ('text' as const) : ('error-text' as const), value },
  };
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(result);
  else prompt.push({ role: 'tool', content: [result] });
}

// An answer that was cancelled before its first word is left out, because it would be rejected as empty.
function addAssistant(prompt: LanguageModelV4Prompt, content: AssistantPart[]): void {
  if (content.length > 0) prompt.push({ role: 'assistant', content });
}

interface AnswerTarget extends Author {
  sendsPlainReasoning: boolean;
}

function toAssistantParts(message: AssistantMessage, to: AnswerTarget): AssistantPart[] {
  const original = findOriginalParts(message, to);
  if (original) {
    return original.map((part) => {
      const metadata = part.options ? { providerOptions: part.options } : {};
      if (part.type !== 'tool-call') return { type: part.type, text: part.text, ...metadata };
      return { ...toToolCallPart(part.call), ...metadata };
    });
  }
  const parts: AssistantPart[] = [];
  // Thoughts that led to calls are required in all later requests by DeepSeek. Others are never sent, so that a request
  // does not depend on which turn is the last.
  if (to.sendsPlainReasoning && message.toolCalls.length > 0 && message.reasoning) {
    parts.push({ type: 'reasoning', text: message.reasoning });
  }
  if (message.content !== '') parts.push({ type: 'text', text: message.content });
  return [...parts, ...message.toolCalls.map(toToolCallPart)];
}

function toToolCallPart({ id, name, arguments: text }: ToolCall): LanguageModelV4ToolCallPart {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(text) };
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
