import type { AssistantMessage, UserMessage } from './message.ts';

/** An answer without what its provider signed, in both of its parts if it was continued. */
export function withoutSignatures(message: AssistantMessage): AssistantMessage {
  const { providerData: _, ...unbound } = message;
  if (!unbound.cutPart) return unbound;
  const { providerData: __, ...cutPart } = unbound.cutPart;
  return { ...unbound, cutPart };
}

/** A summary that is sent as plain text. */
export function withoutSignature({ summary, ...message }: UserMessage): UserMessage {
  if (!summary) return message;
  const { signed: _, ...unsigned } = summary;
  return { ...message, summary: unsigned };
}
