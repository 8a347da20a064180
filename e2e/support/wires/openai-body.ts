import { z } from 'zod';

const InputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const InputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string().regex(/^data:image\/[a-z]+;base64,./),
  detail: z.string().optional(),
});
const OutputText = z.looseObject({ type: z.literal('output_text'), text: z.string() });

const Instruction = z.strictObject({
  type: z.literal('message').default('message'),
  role: z.enum(['system', 'developer']),
  content: z.string(),
});
const Asked = z.strictObject({
  type: z.literal('message').default('message'),
  role: z.literal('user'),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [InputText, InputImage]))]),
});
const Said = z.strictObject({
  type: z.literal('message').default('message'),
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(OutputText)]),
  id: z.string().optional(),
  phase: z.string().optional(),
});
const Call = z.strictObject({
  type: z.literal('function_call'),
  id: z.string().startsWith('fc').optional(),
  call_id: z.string().max(64),
  name: z.string(),
  arguments: z.string(),
});
const Output = z.strictObject({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.string(),
});
const Reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: z.string().startsWith('rs').optional(),
  encrypted_content: z.string().nullish(),
  summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
});

/** An item of the conversation. */
const Item = z.union([Instruction, Asked, Said, Call, Output, Reasoning]);
export type OpenaiItem = z.infer<typeof Item>;

/** A request to OpenAI's Responses API, as far as it is documented and used. */
export const OpenaiBody = z.looseObject({
  model: z.string(),
  input: z.array(Item).min(1),
  store: z.literal(false),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function'),
        name: z.string(),
        description: z.string().optional(),
        parameters: z.unknown(),
      }),
    )
    .optional(),
  reasoning: z.looseObject({ effort: z.string().optional() }).optional(),
  include: z.array(z.string()).optional(),
  prompt_cache_key: z.string().optional(),
});
export type OpenaiBody = z.infer<typeof OpenaiBody>;
