import { type AttachedContent, type AttachedContents, GONE } from '../../attached-content.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import type { Attaching } from './user-parts.ts';

const TAKES_NONE = 'this model does not accept images';
const REFUSED = 'the model’s server refused a request with it';

/** Decides which images a model gets: none if it accepts none, and none that its server has refused. */
export function createImageGate({ takesImages }: { takesImages: boolean }) {
  const refused = new Set<string>();
  const keepsBack = (id: string): string | undefined => {
    if (!takesImages) return TAKES_NONE;
    return refused.has(id) ? REFUSED : undefined;
  };
  const whyNot = (id: string, content: AttachedContent = GONE): string | undefined => {
    if (content.kind === 'image') return keepsBack(id);
    return content.kind === 'absent' ? content.why : undefined;
  };
  const sentOf = (contents: AttachedContents): string[] =>
    [...contents].flatMap(([id, { kind }]) => (kind === 'image' && keepsBack(id) === undefined ? [id] : []));
  return {
    attaching: ({ attachments = new Map() }: ModelRequest): Attaching => ({ contents: attachments, keepsBack }),
    /** Whether to retry without the images of the refused request, because they may be the reason. */
    mayRetry(error: unknown, { attachments = new Map() }: ModelRequest): boolean {
      const sent = error instanceof ProviderError && error.kind === 'refused' ? sentOf(attachments) : [];
      for (const id of sent) refused.add(id);
      return sent.length > 0;
    },
    /** A warning about files of the last message that were not sent; undefined when all were sent. */
    warning({ messages, attachments = new Map() }: ModelRequest): string | undefined {
      const last = messages.findLast(({ role }) => role === 'user');
      const named = last?.role === 'user' ? (last.attachments ?? []) : [];
      const kept = Map.groupBy(named, ({ attachment_id: id }) => whyNot(id, attachments.get(id)));
      kept.delete(undefined);
      if (kept.size === 0) return undefined;
      const told = [...kept].map(([why, files]) => `${files.map(({ filename }) => filename).join(', ')}: ${why}`);
      return `Warning: the model did not receive ${told.join('; ')}.`;
    },
  };
}
