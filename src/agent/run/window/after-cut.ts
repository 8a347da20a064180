import type { Message } from '../../message.ts';
import { shortenOutput } from '../../shortened-output.ts';
import { withoutSignatures } from '../../unbound-answer.ts';
import type { ContextCut, NumberedMessage } from './run-window.ts';

/** What a model reads of messages after a cut. */
export function afterCut(numbered: readonly NumberedMessage[], cut: ContextCut): NumberedMessage[] {
  if (cut.kind === 'compaction') {
    return [{ seq: cut.toSeq, message: cut.summary }, ...numbered.filter(({ seq }) => seq > cut.toSeq)];
  }
  return numbered.map((one) => (one.seq <= cut.toSeq ? { ...one, message: rewritten(one.message, cut.kind) } : one));
}

function rewritten(message: Message, kind: ContextCut['kind']): Message {
  if (kind === 'prune') return shortenOutput(message);
  if (kind === 'unbind' && message.role === 'assistant') return withoutSignatures(message);
  if (message.role === 'assistant' || !message.attachments) return message;
  if (kind === 'images') return { ...message, unseen: message.unseen ?? 'images' };
  return kind === 'attachments' ? { ...message, unseen: 'all' } : message;
}
