import { z } from 'zod';

const Cache = { cache_control: z.unknown().optional() };
const Text = z.strictObject({ type: z.literal('text'), text: z.string(), ...Cache });
const Image = z.strictObject({
  type: z.literal('image'),
  source: z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.string().min(1) }),
  ...Cache,
});
const Result = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [Text, Image]))]).optional(),
  is_error: z.boolean().optional(),
  ...Cache,
});
const Thinking = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string(),
  ...Cache,
});
const Redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string(), ...Cache });
const Use = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.unknown(),
  ...Cache,
});

/** A summary that this server wrote. */
const Compaction = z.strictObject({
  type: z.literal('compaction'),
  content: z.string().min(1),
  signature: z.string(),
  ...Cache,
});

const UserBlock = z.discriminatedUnion('type', [Text, Image, Result]);
const AssistantBlock = z.discriminatedUnion('type', [Text, Thinking, Redacted, Use, Compaction]);
export type AnthropicBlock = z.infer<typeof UserBlock> | z.infer<typeof AssistantBlock>;

export interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: AnthropicBlock[];
}

const toMessage = ({ role, content }: Pick<AnthropicMessage, 'role'> & { content: string | AnthropicBlock[] }) => ({
  role,
  content: typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
});

const Message = z
  .discriminatedUnion('role', [
    z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(UserBlock)]) }),
    z.strictObject({ role: z.literal('assistant'), content: z.union([z.string(), z.array(AssistantBlock)]) }),
  ])
  .transform((message): AnthropicMessage => toMessage(message));

/** A request to Anthropic's Messages API, as far as it is documented and used. */
export const AnthropicBody = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  system: z.union([z.string(), z.array(Text)]).optional(),
  messages: z.array(Message).min(1),
  tools: z
    .array(z.looseObject({ name: z.string(), description: z.string().optional(), input_schema: z.unknown() }))
    .optional(),
  thinking: z
    .looseObject({
      type: z.enum(['adaptive', 'enabled', 'disabled', 'between_tools']),
      block_binding: z.looseObject({ prefix_mismatch_behavior: z.enum(['error', 'drop_block']) }).optional(),
    })
    .optional(),
  compaction: z.strictObject({ type: z.literal('summarize'), instructions: z.string().min(1).optional() }).optional(),
  /** Not together with `compaction`. */
  context_management: z.undefined().optional(),
  stop_sequences: z.undefined().optional(),
  tool_choice: z.looseObject({ type: z.literal('auto') }).optional(),
});
export type AnthropicBody = z.infer<typeof AnthropicBody>;
