import { z } from 'zod';
import { answerAsChat } from './chat-answer.ts';
import { findTwice, isSame, type Rule, tokensIn, type Wire } from './wire.ts';

const Text = z.strictObject({ type: z.literal('text'), text: z.string() });
const Image = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string().regex(/^data:image\/[a-z]+;base64,./) }),
});
const Call = z.strictObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [Text, Image]))]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(Call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
]);
type Message = z.infer<typeof Message>;
type Said = Extract<Message, { role: 'assistant' }>;

/** A request to the chat completions API, as far as it is documented and used. */
const ChatBody = z.looseObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.looseObject({ name: z.string(), description: z.string().optional(), parameters: z.unknown() }),
      }),
    )
    .optional(),
});
export type ChatBody = z.infer<typeof ChatBody>;

/** A server with the chat completions API and a strict template, such as vLLM, or DeepSeek with its thinking mode. */
export function createChatWire({ thinksAloud }: { thinksAloud: boolean }): Wire<ChatBody> {
  return {
    name: thinksAloud ? 'deepseek' : 'openai-compatible',
    isAsked: (path) => path.endsWith('/chat/completions'),
    schema: ChatBody,
    checks: {
      alternation: checkTurns,
      pairing: checkPairs,
      order: checkOrder,
      empty: checkEmpty,
      arguments: checkArguments,
      images: checkImages,
      window: (body, { window }) =>
        tokensIn(body) > window
          ? `This model's maximum context length is ${window} tokens. However, your request has ${tokensIn(body)} input tokens. Please reduce the length of the input messages.`
          : undefined,
      'tool-names': ({ tools = [] }) => {
        const twice = findTwice(tools.map(({ function: { name } }) => name));
        return twice === undefined ? undefined : `Tool names must be unique: ${twice} appears twice.`;
      },
      'tool-schema': checkSchemas,
      ...(thinksAloud && { reasoning: checkReasoning }),
    },
    refuse: (rule, message) => ({
      status: 400,
      body: {
        error: { message, type: 'invalid_request_error', param: null, code: CODES[rule] ?? 'invalid_request_error' },
      },
    }),
    partsOf: ({ model, tools, messages }) => ({ model, before: tools, messages }),
    answer: (body, answer) => ({ events: answerAsChat(body, answer), dropped: 0 }),
    tokensOf: tokensIn,
  };
}

const CODES: Partial<Record<Rule, string>> = { 'tool-schema': 'invalid_function_parameters' };

/** As templates of local models demand it. Results belong to the turn of the model. */
function checkTurns({ messages }: ChatBody): string | undefined {
  const [first, ...others] = messages;
  if (others.some(({ role }) => role === 'system')) return 'System message must be at the beginning.';
  const turns = (first?.role === 'system' ? others : messages).filter(({ role }) => role !== 'tool');
  const isWrong =
    turns[0]?.role !== 'user' ||
    turns.some((turn, index) => turn.role === 'user' && turns[index - 1]?.role === 'user') ||
    messages.some((message, index) => message.role === 'assistant' && messages[index - 1]?.role === 'assistant');
  return isWrong ? 'Conversation roles must alternate user/assistant/user/assistant/...' : undefined;
}

const callsOf = (message: Message | undefined): string[] =>
  message?.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];

function resultsAfter(messages: readonly Message[], index: number): string[] {
  const ids: string[] = [];
  for (const message of messages.slice(index + 1)) {
    if (message.role !== 'tool') break;
    ids.push(message.tool_call_id);
  }
  return ids;
}

function checkPairs({ messages }: ChatBody): string | undefined {
  const twice = findTwice(messages.flatMap(callsOf));
  if (twice !== undefined) return `Duplicate value for 'tool_call_id' of ${twice}.`;
  for (const [index, message] of messages.entries()) {
    const results = resultsAfter(messages, index);
    const open = callsOf(message).filter((id) => !results.includes(id));
    if (open.length > 0) {
      return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`;
    }
    if (message.role === 'tool' || results.length === 0) continue;
    const strange = results.some((id) => !callsOf(message).includes(id));
    if (strange) return "Messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    if (findTwice(results) !== undefined)
      return "Messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  }
  return undefined;
}

/** Templates of local models match results to calls by their order. */
function checkOrder({ messages }: ChatBody): string | undefined {
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message);
    if (calls.length > 0 && !isSame(calls, resultsAfter(messages, index))) {
      return 'The tool messages must be in the order of the tool calls that they respond to.';
    }
  }
  return undefined;
}

function checkEmpty({ messages }: ChatBody): string | undefined {
  for (const message of messages) {
    if (message.role === 'assistant' && !message.content && !message.tool_calls) {
      return 'Invalid assistant message: content or tool_calls must be set';
    }
    if (message.role === 'user' && isEmptyText(message.content))
      return 'Invalid user message: content must not be empty';
  }
  return undefined;
}

const isEmptyText = (content: Extract<Message, { role: 'user' }>['content']): boolean =>
  content.length === 0 ||
  (typeof content !== 'string' && content.some((part) => part.type === 'text' && part.text === ''));

/** Templates render the arguments as a mapping. */
function checkArguments({ messages }: ChatBody): string | undefined {
  const texts = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.function.arguments) : [],
  );
  return texts.every((text) => /^\s*\{.*\}\s*$/s.test(text)) ? undefined : 'Can only get item pairs from a mapping.';
}

function checkImages({ messages }: ChatBody, { images }: { images: number }): string | undefined {
  const parts = messages.flatMap(({ role, content }) =>
    role === 'user' && typeof content !== 'string' ? content : [],
  );
  const count = parts.filter((part) => typeof part === 'object' && part.type === 'image_url').length;
  return count > images ? `At most ${images} image(s) may be provided in one prompt.` : undefined;
}

function checkSchemas({ tools = [] }: ChatBody): string | undefined {
  for (const {
    function: { name, parameters },
  } of tools) {
    const type = typeof parameters === 'object' && parameters !== null && 'type' in parameters ? parameters.type : null;
    if (type !== 'object') {
      return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? 'None'}"'.`;
    }
  }
  return undefined;
}

/**
 * DeepSeek's thinking mode: between two messages of a person, the thoughts of all answers come back if one of these
 * answers made calls.
 */
function checkReasoning({ messages }: ChatBody): string | undefined {
  let turn: Said[] = [];
  for (const message of [...messages, undefined]) {
    if (message?.role === 'assistant') turn.push(message);
    if (message?.role === 'assistant' || message?.role === 'tool') continue;
    const isMissing = turn.some((said) => said.reasoning_content === undefined);
    if (isMissing && turn.some((said) => said.tool_calls)) {
      return 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    }
    turn = [];
  }
  return undefined;
}
