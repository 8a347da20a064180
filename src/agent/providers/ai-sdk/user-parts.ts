import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { Attachment } from '../../../../protocol/stream-events.ts';
import { type AttachedContent, type AttachedContents, describeAttachment, GONE } from '../../attached-content.ts';
import type { Message } from '../../message.ts';

/** Which attachments are sent, and why an image is not. */
export interface Attaching {
  contents: AttachedContents;
  /** Why this image is not sent to the model; undefined when it is sent. */
  keepsBack(id: string): string | undefined;
}

const NOTHING: Attaching = { contents: new Map(), keepsBack: () => undefined };

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** Converts a user message to parts: its files, then its text. A file that cannot be sent is described in words. */
export function toUserParts(
  { content, attachments = [], unseen }: Extract<Message, { role: 'user' }>,
  attaching: Attaching = NOTHING,
): UserPart[] {
  const files = attachments.map((attachment) => {
    if (unseen === 'all') return former(attachment, TO_MAKE_ROOM);
    return unseen === 'images' && attachment.kind === 'image'
      ? former(attachment, REFUSED)
      : toPart(attachment, attaching);
  });
  return content === '' && files.length > 0 ? files : [...files, { type: 'text', text: content }];
}

function toPart(attachment: Attachment, { contents, keepsBack }: Attaching): UserPart {
  const { attachment_id: id, filename, mime_type } = attachment;
  const content: AttachedContent = contents.get(id) ?? GONE;
  switch (content.kind) {
    case 'image': {
      const why = keepsBack(id);
      if (why !== undefined) return absent(attachment, why);
      return { type: 'file', filename, mediaType: mime_type, data: { type: 'data', data: content.bytes } };
    }
    case 'text':
      return { type: 'text', text: `The user attached the file ${describeAttachment(attachment)}:\n\n${content.text}` };
    case 'absent':
      return absent(attachment, content.why);
  }
}

const TO_MAKE_ROOM = 'to make room for newer files';
const REFUSED = 'because the model’s server refused a request with it';

const former = (attachment: Attachment, why: string): UserPart => ({
  type: 'text',
  text: `[The user attached ${describeAttachment(attachment)}. It is no longer shown to you, ${why}.]`,
});

const absent = (attachment: Attachment, why: string): UserPart => ({
  type: 'text',
  text: `[The user attached ${describeAttachment(attachment)}, which is not shown to you: ${why}. Tell the user so.]`,
});
