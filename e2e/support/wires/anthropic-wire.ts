import { answerAsAnthropic } from './anthropic-answer.ts';
import { findUnbound, isBinding, summarySeal, thoughtSeal } from './anthropic-binding.ts';
import { type AnthropicBlock, AnthropicBody } from './anthropic-body.ts';
import { findTwice, isSame, tokensIn, type Wire } from './wire.ts';

/** Anthropic's Messages API. Thoughts of newer models are bound to everything before them. */
export const anthropicWire: Wire<AnthropicBody> = {
  name: 'anthropic',
  isAsked: (path) => path.endsWith('/messages'),
  schema: AnthropicBody,
  checks: {
    alternation: checkTurns,
    pairing: checkPairs,
    order: checkOrder,
    empty: checkEmpty,
    arguments: checkArguments,
    images: ({ messages }, { images }) => {
      const count = messages.flatMap(({ content }) => content).filter(({ type }) => type === 'image').length;
      return count > images ? `Too much media: 0 document pages + ${count} images > ${images}` : undefined;
    },
    window: (body, { window }) => {
      const tokens = tokensIn(body);
      return tokens > window ? `prompt is too long: ${tokens} tokens > ${window} maximum` : undefined;
    },
    'tool-names': ({ tools = [] }) =>
      findTwice(tools.map(({ name }) => name)) === undefined ? undefined : 'tools: Tool names must be unique.',
    'tool-schema': checkSchemas,
    signatures: checkSignatures,
    binding: checkBinding,
    reasoning: checkFirstThoughts,
  },
  refuse: (_rule, message) => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
    },
  }),
  partsOf: ({ model, system, tools, messages, compaction }) => ({
    ...{ model, before: { system, tools }, messages },
    ...(compaction && { isForSummary: true as const }),
  }),
  answer: answerAsAnthropic,
  tokensOf: tokensIn,
};

function checkTurns({ messages, model, compaction }: AnthropicBody): string | undefined {
  const isContinued = messages[0]?.content[0]?.type === 'compaction';
  if (messages[0]?.role !== 'user' && !isContinued) return 'messages: first message must use the "user" role';
  const twice = messages.find(({ role }, index) => role === messages[index - 1]?.role);
  if (twice) {
    return `messages: roles must alternate between "user" and "assistant", but found multiple "${twice.role}" roles in a row`;
  }
  if (messages.at(-1)?.role === 'user' || compaction || !isBinding(model)) return undefined;
  return 'This model does not support assistant message prefill. The conversation must end with a user message.';
}

const usesIn = (blocks: readonly AnthropicBlock[] = []): string[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
const resultsIn = (blocks: readonly AnthropicBlock[] = []): string[] =>
  blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));

function checkPairs({ messages }: AnthropicBody): string | undefined {
  const twice = findTwice(messages.flatMap(({ content }) => usesIn(content)));
  if (twice !== undefined) return 'messages: `tool_use` ids must be unique';
  for (const [index, { content }] of messages.entries()) {
    const uses = usesIn(content);
    const results = resultsIn(messages[index + 1]?.content);
    const open = uses.filter((id) => !results.includes(id));
    if (open.length > 0) {
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
    const before = usesIn(messages[index - 1]?.content);
    const strange = resultsIn(content).find((id) => !before.includes(id));
    if (strange !== undefined) {
      return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${strange}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    const again = findTwice(resultsIn(content));
    if (again !== undefined) {
      return `messages.${index}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${again}`;
    }
  }
  return undefined;
}

/** The server demands that results come first. That they follow the order of the calls is our own rule for all wires. */
function checkOrder({ messages }: AnthropicBody): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    const results = resultsIn(content);
    if (results.length === 0) continue;
    const uses = usesIn(messages[index - 1]?.content);
    const areFirst = content.slice(0, results.length).every(({ type }) => type === 'tool_result');
    if (areFirst && isSame(results, uses)) continue;
    return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${uses.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  return undefined;
}

function checkEmpty({ messages }: AnthropicBody): string | undefined {
  const index = messages.findIndex(({ content }) => content.length === 0);
  if (index >= 0)
    return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  const texts = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
  if (texts.includes('')) return 'messages: text content blocks must be non-empty';
  if (texts.some((text) => text.trim() === '')) return 'messages: text content blocks must contain non-whitespace text';
  return undefined;
}

function checkArguments({ messages }: AnthropicBody): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    for (const [place, block] of content.entries()) {
      if (block.type !== 'tool_use' || isObject(block.input)) continue;
      return `messages.${index}.content.${place}.tool_use.input: Input should be a valid dictionary`;
    }
  }
  return undefined;
}

function checkSchemas({ tools = [] }: AnthropicBody): string | undefined {
  for (const [index, { name, input_schema: schema }] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      return `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (!isObject(schema)) return `tools.${index}.custom.input_schema: Field required`;
    if (!('type' in schema)) return `tools.${index}.custom.input_schema.type: Field required`;
    if (schema.type !== 'object') return `tools.${index}.custom.input_schema.type: Input should be 'object'`;
  }
  return undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A thought or a summary that was altered, or that this server never gave. */
function checkSignatures({ messages }: AnthropicBody): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    for (const [place, block] of content.entries()) {
      const what = findForged(block, index + place === 0);
      if (what !== undefined) return `messages.${index}.content.${place}: ${what}`;
    }
  }
  return undefined;
}

function findForged(block: AnthropicBlock, isFirst: boolean): string | undefined {
  if (block.type === 'thinking' && !block.signature.startsWith(`${thoughtSeal(block.thinking)}.`)) {
    return 'Invalid `signature` in `thinking` block';
  }
  if (block.type !== 'compaction') return undefined;
  if (!isFirst) return 'A `compaction` block must be the first content block';
  return block.signature === summarySeal(block.content) ? undefined : 'Invalid `signature` in `compaction` block';
}

/** Thoughts after another beginning are refused, unless the request asks to drop them. */
function checkBinding(body: AnthropicBody): string | undefined {
  if (!isBinding(body.model) || body.thinking?.block_binding?.prefix_mismatch_behavior === 'drop_block')
    return undefined;
  const [first] = findUnbound(body);
  return first && `${first}: The block is bound to a different conversation`;
}

/** An answer never ends with thoughts. With a budget for thoughts, the one that awaits results begins with them. */
function checkFirstThoughts({ messages, thinking }: AnthropicBody): string | undefined {
  const ending = messages.findIndex(({ content }) => isThought(content.at(-1)));
  if (ending >= 0) return `messages.${ending}: The final block in an assistant message cannot be \`thinking\`.`;
  const index = messages.length - 2;
  const last = messages[index];
  if (thinking?.type !== 'enabled' || last?.role !== 'assistant' || usesIn(last.content).length === 0) return undefined;
  const [first] = last.content;
  if (isThought(first)) return undefined;
  return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
}

const isThought = (block: AnthropicBlock | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking';
