import { type AttachedContent, type AttachedContents, GONE } from '../../attached-content.ts';
import { isAsked } from '../../message.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import type { Attaching } from './user-parts.ts';

const TAKES_NONE = 'this model does not accept images';
const REFUSED = 'the model’s server refused a request with it';

const mayBeImage = (error: unknown): boolean =>
  isRefusal(error) && (error.refusal === undefined || error.refusal.about === 'image');

/** Whether the upstream refused the request itself. */
export const isRefusal = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && error.kind === 'refused';

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
    /**
     * Holds back the images of a refused request, if they may be the reason. Undefined: they are not. Otherwise call
     * the result when the request without them is refused, too: then the images are sent again.
     */
    holdBack(error: unknown, { attachments = new Map() }: ModelRequest): (() => void) | undefined {
      const sent = mayBeImage(error) ? sentOf(attachments) : [];
      if (sent.length === 0) return undefined;
      for (const id of sent) refused.add(id);
      return () => {
        for (const id of sent) refused.delete(id);
      };
    },
    /** A warning about files of the last message that were not sent; undefined when all were sent. */
    warning({ messages, attachments = new Map() }: ModelRequest): string | undefined {
      const last = messages.findLast(isAsked);
      const named = last?.attachments ?? [];
      const kept = Map.groupBy(named, ({ attachment_id: id }) => whyNot(id, attachments.get(id)));
      kept.delete(undefined);
      if (kept.size === 0) return undefined;
      const told = [...kept].map(([why, files]) => `${files.map(({ filename }) => filename).join(', ')}: ${why}`);
      return `Warning: the model did not receive ${told.join('; ')}.`;
    },
  };
}
