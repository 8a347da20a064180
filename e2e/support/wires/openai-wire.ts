import { answerAsOpenai, encryptedIn } from './openai-answer.ts';
import { OpenaiBody, type OpenaiItem } from './openai-body.ts';
import { findTwice, isSame, type Rule, tokensIn, type Wire } from './wire.ts';

/** OpenAI's Responses API without storage: reasoning comes back encrypted, each item before the one that it led to. */
export const openaiWire: Wire<OpenaiBody> = {
  name: 'openai',
  isAsked: (path) => path.endsWith('/responses'),
  schema: OpenaiBody,
  checks: {
    alternation: checkInstructions,
    pairing: checkPairs,
    order: checkOrder,
    empty: checkEmpty,
    arguments: checkArguments,
    images: ({ input }, { images }) => {
      const count = imagesIn(input);
      return count > images ? `Too many images in request: ${count}. The maximum is ${images}.` : undefined;
    },
    window: (body, { window }) =>
      tokensIn(body) > window
        ? 'Your input exceeds the context window of this model. Please adjust your input and try again.'
        : undefined,
    'tool-names': ({ tools = [] }) => {
      const twice = findTwice(tools.map(({ name }) => name));
      return twice === undefined ? undefined : `Invalid 'tools': duplicate function name '${twice}'.`;
    },
    'tool-schema': checkSchemas,
    signatures: checkEncrypted,
    reasoning: checkFollowing,
  },
  refuse: (rule, message) => ({
    status: 400,
    body: {
      error: { message, type: 'invalid_request_error', param: PARAMS[rule] ?? 'input', code: CODES[rule] ?? null },
    },
  }),
  partsOf: ({ model, tools, input }) => ({ model, before: tools, messages: input }),
  answer: answerAsOpenai,
  tokensOf: tokensIn,
};

const CODES: Partial<Record<Rule, string>> = {
  shape: 'invalid_value',
  window: 'context_length_exceeded',
  'tool-schema': 'invalid_function_parameters',
  signatures: 'invalid_encrypted_content',
};
const PARAMS: Partial<Record<Rule, string>> = { 'tool-schema': 'tools[0].parameters', 'tool-names': 'tools' };

function checkInstructions({ input }: OpenaiBody): string | undefined {
  const index = input.findIndex(
    (item, place) => place > 0 && 'role' in item && item.role !== 'user' && item.role !== 'assistant',
  );
  return index > 0 ? `Invalid 'input[${index}]': instructions stand at the beginning.` : undefined;
}

const callsIn = (items: readonly OpenaiItem[]): string[] =>
  items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
const outputsIn = (items: readonly OpenaiItem[]): string[] =>
  items.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : []));

function checkPairs({ input }: OpenaiBody): string | undefined {
  const [calls, outputs] = [callsIn(input), outputsIn(input)];
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return `No tool output found for function call ${open}.`;
  const early = input.find(
    (item, index) => item.type === 'function_call_output' && !callsIn(input.slice(0, index)).includes(item.call_id),
  );
  if (early?.type === 'function_call_output') {
    return `No tool call found for function call output with call_id ${early.call_id}.`;
  }
  const twice = findTwice(calls) ?? findTwice(outputs);
  return twice === undefined ? undefined : `Duplicate item found with call_id ${twice}.`;
}

/** The server matches outputs to calls by id. That they follow the calls in their order is our own rule for all wires. */
function checkOrder({ input }: OpenaiBody): string | undefined {
  const items = input.filter(({ type }) => type !== 'reasoning');
  for (const [index, item] of items.entries()) {
    if (item.type !== 'function_call' || items[index - 1]?.type === 'function_call') continue;
    const rest = items.slice(index);
    const calls = callsIn(whileOf(rest, 'function_call'));
    const outputs = outputsIn(whileOf(rest.slice(calls.length), 'function_call_output'));
    if (!isSame(calls, outputs)) return `No tool output found for function call ${calls[0]}.`;
  }
  return undefined;
}

/** The items of a type at the beginning. */
function whileOf(items: readonly OpenaiItem[], type: OpenaiItem['type']): readonly OpenaiItem[] {
  const end = items.findIndex((item) => item.type !== type);
  return end < 0 ? items : items.slice(0, end);
}

function checkEmpty({ input }: OpenaiBody): string | undefined {
  const index = input.findIndex((item) => {
    if (item.type !== 'message') return false;
    if (typeof item.content === 'string') return item.content === '';
    return item.content.length === 0 || item.content.some((part) => 'text' in part && part.text === '');
  });
  return index < 0
    ? undefined
    : `Invalid 'input[${index}].content': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
}

function checkArguments({ input }: OpenaiBody): string | undefined {
  const index = input.findIndex((item) => item.type === 'function_call' && !/^\s*\{.*\}\s*$/s.test(item.arguments));
  return index < 0 ? undefined : `Invalid 'input[${index}].arguments': expected a JSON object.`;
}

const imagesIn = (input: readonly OpenaiItem[]): number =>
  input
    .flatMap((item) => (item.type === 'message' && typeof item.content !== 'string' ? [...item.content] : []))
    .filter(({ type }) => type === 'input_image').length;

function checkSchemas({ tools = [] }: OpenaiBody): string | undefined {
  for (const { name, parameters } of tools) {
    const type = typeof parameters === 'object' && parameters !== null && 'type' in parameters ? parameters.type : null;
    if (type !== 'object') {
      return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? 'None'}"'.`;
    }
  }
  return undefined;
}

function checkEncrypted({ input }: OpenaiBody): string | undefined {
  for (const item of input) {
    if (item.type !== 'reasoning' || encryptedIn(item)) continue;
    const content = item.encrypted_content ?? '';
    return `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified.`;
  }
  return undefined;
}

/** A reasoning item stands right before the message or the call that it led to. */
function checkFollowing({ input }: OpenaiBody): string | undefined {
  const index = input.findIndex((item, place) => item.type === 'reasoning' && !isLedTo(input[place + 1]));
  const lonely = input[index];
  if (lonely?.type !== 'reasoning') return undefined;
  return `Item '${lonely.id}' of type 'reasoning' was provided without its required following item.`;
}

const isLedTo = (item: OpenaiItem | undefined): boolean =>
  item?.type === 'function_call' ||
  item?.type === 'reasoning' ||
  (item?.type === 'message' && item.role === 'assistant');
