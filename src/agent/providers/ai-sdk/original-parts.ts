import type { JSONValue, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { z } from 'zod';
import type { AssistantMessage, ToolCall } from '../../message.ts';

/** A part of an answer as a provider needs it back: in order, with its signature. */
export type OriginalPart =
  | { type: 'text' | 'reasoning'; text: string; options?: SharedV4ProviderMetadata | undefined }
  | { type: 'tool-call'; call: ToolCall; options?: SharedV4ProviderMetadata | undefined };

const Options = z.record(z.string(), z.record(z.string(), z.custom<JSONValue>())).optional();

const Stored = z.object({
  modelId: z.string(),
  /** The version of the prefix that the reasoning is bound to. */
  prefix: z.string().optional(),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.enum(['text', 'reasoning']), text: z.string(), options: Options }),
      z.object({ type: z.literal('tool-call'), callId: z.string(), options: Options }),
    ]),
  ),
});
type Stored = z.infer<typeof Stored>;

/** The model of an answer. `prefix`: the version of the prefix that its reasoning is bound to, if it is. */
export interface Author {
  provider: string;
  modelId: string;
  prefix?: string | undefined;
}

/** Collects the parts of an answer while they stream, for `providerData`. */
export function createOriginalParts({ provider, modelId, prefix }: Author) {
  const parts: Stored['parts'] = [];
  const open = new Map<string, Extract<Stored['parts'][number], { type: 'text' | 'reasoning' }>>();

  const block = (type: 'text' | 'reasoning', id: string) => {
    const known = open.get(`${type} ${id}`);
    if (known) return known;
    const part: { type: 'text' | 'reasoning'; text: string } = { type, text: '' };
    parts.push(part);
    open.set(`${type} ${id}`, part);
    return part;
  };
  return {
    add(part: LanguageModelV4StreamPart) {
      const found = /^(text|reasoning)-(start|delta|end)$/.exec(part.type);
      if (!found || !('id' in part) || part.id === undefined) return;
      const into = block(found[1] === 'text' ? 'text' : 'reasoning', part.id);
      if ('delta' in part) into.text += part.delta;
      if ('providerMetadata' in part) addOptions(into, part.providerMetadata);
      if (found[2] === 'end') open.delete(`${into.type} ${part.id}`);
    },
    addCall(callId: string, options: SharedV4ProviderMetadata | undefined) {
      const part: Stored['parts'][number] = { type: 'tool-call', callId };
      addOptions(part, options);
      parts.push(part);
    },
    /** Undefined when the plain message has the same content. */
    toProviderData(): Record<string, unknown> | undefined {
      if (!parts.some(({ options }) => options)) return undefined;
      return { [provider]: { modelId, ...(prefix !== undefined && { prefix }), parts } satisfies Stored };
    },
  };
}

/**
 * The parts that this model wrote, if the message still has the same content. Without its reasoning, if that is bound to
 * another prefix.
 */
export function findOriginalParts(message: AssistantMessage, to: Author): OriginalPart[] | undefined {
  const kept = message.providerData?.[to.provider];
  if (kept === undefined) return undefined; // saves a failed schema check, the more expensive step, for most messages
  const stored = Stored.safeParse(kept);
  if (!stored.success || stored.data.modelId !== to.modelId) return undefined;
  const parts = partsOf(message, stored.data);
  const isBoundElsewhere = to.prefix !== undefined && stored.data.prefix !== to.prefix;
  return isBoundElsewhere ? parts?.filter(({ type }) => type !== 'reasoning') : parts;
}

/** Undefined if the message has another content. */
function partsOf({ content, toolCalls }: AssistantMessage, stored: Stored): OriginalPart[] | undefined {
  const calls = new Map(toolCalls.map((call) => [call.id, call]));
  const parts: OriginalPart[] = [];
  let text = '';
  for (const part of stored.parts) {
    if (part.type === 'text') text += part.text;
    if (part.type !== 'tool-call') {
      parts.push(part);
      continue;
    }
    const call = calls.get(part.callId);
    if (!call) return undefined;
    calls.delete(part.callId);
    parts.push({ type: 'tool-call', call, options: part.options });
  }
  return text === content && calls.size === 0 ? parts : undefined;
}

// Early metadata has null for values that are not known yet; the same key may come again with the value.
function addOptions(part: Stored['parts'][number], metadata: SharedV4ProviderMetadata | undefined): void {
  for (const [provider, values] of Object.entries(metadata ?? {})) {
    const known = part.options ?? {};
    const options = { ...known[provider] };
    for (const [key, value] of Object.entries(values)) {
      if (value !== null && value !== undefined) options[key] = value;
    }
    part.options = { ...known, [provider]: options };
  }
}
