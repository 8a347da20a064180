import { findAnswered, idsIn } from '../../answered-images.ts';
import { type AttachedContent, type AttachedContents, GONE, seenIn } from '../../attached-content.ts';
import { type AnsweredImages, isAsked, type Message } from '../../message.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import type { Attaching } from './user-parts.ts';

const TAKES_NONE = 'this model does not accept images';
const REFUSED = 'the model’s server refused a request with it';

/** Whether the upstream refused the request itself. */
const isRefusal = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && error.kind === 'refused';

type Images = Pick<ModelRequest, 'messages' | 'attachments'>;

interface Target {
  modelId: string;
  takesImages: boolean;
}

/** Decides which images of a request a model gets: none if it accepts none, and none that its server has refused. */
export function gateImages({ messages, attachments = new Map() }: Images, { modelId, takesImages }: Target) {
  const { upTo, withheld } = findAnswered(messages, modelId);
  const known = idsIn(messages.slice(0, upTo));
  const sent = takesImages ? imagesIn(attachments).filter((id) => !withheld.has(id)) : [];
  const fresh = sent.filter((id) => !known.has(id));
  return {
    /** The request without further images. */
    opening: (more: readonly string[] = []): GatedImages => {
      const keptBack = new Set([...withheld, ...more]);
      const keepsBack = (id: string): string | undefined => {
        if (!takesImages) return TAKES_NONE;
        return keptBack.has(id) ? REFUSED : undefined;
      };
      const answered = { model: modelId, ...(more.length > 0 && { withheld: [...more] }) };
      return {
        attaching: { contents: attachments, keepsBack },
        warning: warningOf(messages, { attachments, keepsBack, more }),
        answered: fresh.length > 0 || more.length > 0 ? answered : undefined,
      };
    },
    /**
     * The images to leave out after a refusal that may be about them. Those that the model has answered with are not
     * among them: they leave the requests only with a cut (`planRefusedImages`).
     */
    suspectsOf(error: unknown): readonly string[] {
      if (!isRefusal(error)) return [];
      const { refusal, detail } = error;
      const isAboutElse = detail !== undefined || (refusal !== undefined && refusal.about !== 'image');
      return isAboutElse ? [] : fresh;
    },
  };
}

/** What a request sends of its images. */
export interface GatedImages {
  attaching: Attaching;
  /**
   * About files of the last message that were not sent, and about images of any message that are left out from now on;
   * undefined when there are none.
   */
  warning: string | undefined;
  /** To be stored with the answer. */
  answered: AnsweredImages | undefined;
}

const imagesIn = (contents: AttachedContents): string[] =>
  [...contents].flatMap(([id, { kind }]) => (kind === 'image' ? [id] : []));

interface Told {
  attachments: AttachedContents;
  keepsBack: Attaching['keepsBack'];
  /** Left out from now on. */
  more: readonly string[];
}

function warningOf(messages: readonly Message[], { attachments, keepsBack, more }: Told): string | undefined {
  const whyNot = (id: string, content: AttachedContent = GONE): string | undefined => {
    if (content.kind === 'image') return keepsBack(id);
    return content.kind === 'absent' ? content.why : undefined;
  };
  const latest = messages.findLast(isAsked);
  const named = messages.flatMap((message) =>
    message === latest ? seenIn(message) : seenIn(message).filter(({ attachment_id: id }) => more.includes(id)),
  );
  const kept = Map.groupBy(named, ({ attachment_id: id }) => whyNot(id, attachments.get(id)));
  kept.delete(undefined);
  if (kept.size === 0) return undefined;
  const told = [...kept].map(([why, files]) => `${files.map(({ filename }) => filename).join(', ')}: ${why}`);
  return `Warning: the model did not receive ${told.join('; ')}.`;
}
