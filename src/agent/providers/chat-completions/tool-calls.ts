import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type StreamingToolCallDelta, StreamingToolCallTracker } from '@ai-sdk/provider-utils';
import { z } from 'zod';

const Deltas = z.array(
  z.object({
    index: z.number().nullish(), // not sent by Google
    id: z.string().nullish(),
    function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }),
    extra_content: z.object({ google: z.object({ thought_signature: z.string().nullish() }).nullish() }).nullish(),
  }),
);
type Delta = z.infer<typeof Deltas>[number];

interface Extra {
  extra_content: Delta['extra_content'];
}

interface Pending {
  id: string | undefined;
  arguments: string;
  extra: Delta['extra_content'];
}

/**
 * Puts together tool calls that arrive in pieces. The SDK's tracker decides which call a piece belongs to; it needs a
 * call's name first, which some servers send after the beginning of the arguments.
 */
export function createToolCalls(give: (part: LanguageModelV4StreamPart) => void) {
  const tracker = new StreamingToolCallTracker<StreamingToolCallDelta & Extra>(
    { enqueue: give },
    { extractMetadata: signatureOf, buildToolCallProviderMetadata: (metadata) => metadata },
  );
  const pending = new Map<number, Pending>();
  const named = new Set<number>();

  /** Waits for the name. */
  const takeIndexed = (index: number, delta: Delta) => {
    const known = pending.get(index) ?? { id: undefined, arguments: '', extra: undefined };
    known.id ??= delta.id ?? undefined;
    known.extra ??= delta.extra_content;
    known.arguments += delta.function.arguments ?? '';
    pending.set(index, known);
    const name = delta.function.name ?? undefined;
    if (name === undefined) return;
    pending.delete(index);
    named.add(index);
    tracker.processDelta(toDelta(index, known, name));
  };
  return {
    /** Throws if these are no deltas of tool calls. */
    take(deltas: unknown): void {
      for (const delta of Deltas.parse(deltas)) {
        const index = delta.index ?? undefined;
        if (index !== undefined && !named.has(index)) takeIndexed(index, delta);
        else tracker.processDelta(toTracked(delta));
      }
    },
    /** Gives the complete calls. Throws if one of them has no name. */
    end(): void {
      for (const [index, known] of pending) tracker.processDelta(toDelta(index, known));
      tracker.flush();
    },
  };
}

const toTracked = ({
  index = null,
  id = null,
  function: { name = null, arguments: text = null },
  extra_content,
}: Delta) => ({
  index,
  id,
  function: { name, arguments: text },
  extra_content,
});

const toDelta = (index: number, { id, arguments: text, extra }: Pending, name?: string) =>
  toTracked({ index, id, function: { name, arguments: text }, extra_content: extra });

/** Gemini's signature of a call, which has to be sent back with it. */
function signatureOf({ extra_content: extra }: Extra) {
  const signature = extra?.google?.thought_signature;
  return signature ? { openaiCompatible: { thoughtSignature: signature } } : undefined;
}
