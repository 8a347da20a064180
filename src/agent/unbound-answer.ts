import type { AssistantMessage } from './message.ts';

/** An answer without what its provider signed, in both of its parts if it was continued. */
export function withoutSignatures(message: AssistantMessage): AssistantMessage {
  const { providerData: _, ...unbound } = message;
  if (!unbound.cutPart) return unbound;
  const { providerData: __, ...cutPart } = unbound.cutPart;
  return { ...unbound, cutPart };
}
