import type { Attachment } from '../../protocol/stream-events.ts';
import type { Message } from './message.ts';

/** What the model receives for an attachment: its bytes, its text, or the reason why neither. */
export type AttachedContent =
  | { kind: 'image'; bytes: Uint8Array }
  | { kind: 'text'; text: string }
  | { kind: 'absent'; why: string };

export const GONE = { kind: 'absent', why: 'its file is gone or damaged' } as const satisfies AttachedContent;

/** Keyed by attachment id. */
export type AttachedContents = ReadonlyMap<string, AttachedContent>;

/**
 * Reads the bytes of an attachment; undefined when they are gone or damaged. Must not throw, because a bad file must
 * not end a conversation.
 */
export type ReadAttachment = (attachment: Attachment) => Promise<Uint8Array | undefined>;

/** Per request: what all providers accept, and what fits into memory several times. */
const MOST_IMAGES = 20;
const MOST_IMAGE_BYTES = 20 * 1024 * 1024;
const MOST_TEXT_BYTES = 1024 * 1024;
/** Per text file, in bytes: half from its beginning, half from its end. */
const SHOWN_TEXT_BYTES = 256 * 1024;

/**
 * Reads the attachments of the messages, newest first, until the request is full. For older ones the model gets a
 * description.
 */
export async function readAttached(messages: readonly Message[], read: ReadAttachment): Promise<AttachedContents> {
  const contents = new Map<string, AttachedContent>();
  const left = { image: MOST_IMAGE_BYTES, images: MOST_IMAGES, text: MOST_TEXT_BYTES };
  const named = messages.flatMap((message) => (message.role === 'user' ? (message.attachments ?? []) : []));
  for (const attachment of named.reverse()) {
    const { attachment_id: id, kind } = attachment;
    if (contents.has(id)) continue;
    const bytes = kind === 'image' ? attachment.size_bytes : Math.min(attachment.size_bytes, SHOWN_TEXT_BYTES);
    if (left[kind] < bytes || (kind === 'image' && left.images === 0)) {
      contents.set(id, { kind: 'absent', why: 'newer attachments filled the request' });
      continue;
    }
    left[kind] -= bytes;
    if (kind === 'image') left.images -= 1;
    contents.set(id, await contentOf(attachment, read));
  }
  return contents;
}

async function contentOf(attachment: Attachment, read: ReadAttachment): Promise<AttachedContent> {
  const bytes = await read(attachment);
  if (!bytes) return GONE;
  const { kind } = attachment;
  return kind === 'image' ? { kind, bytes } : { kind, text: toShownText(bytes) };
}

function toShownText(bytes: Uint8Array): string {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (whole.length <= SHOWN_TEXT_BYTES) return whole.toString('utf8');
  const half = SHOWN_TEXT_BYTES / 2;
  const head = whole.subarray(0, half).toString('utf8');
  const tail = whole.subarray(-half).toString('utf8');
  return `${head}\n[… ${whole.length - SHOWN_TEXT_BYTES} bytes left out …]\n${tail}`;
}

/** Describes an attachment by name, type and size. */
export const describeAttachment = ({ filename, mime_type, size_bytes }: Attachment): string =>
  `"${filename}" (${mime_type}, ${size_bytes} bytes)`;
