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
 * Reads the bytes of an attachment, of a PDF its text; undefined when they are gone or damaged. Must not throw, because a
 * bad file must not end a conversation.
 */
export type ReadAttachment = (attachment: Attachment) => Promise<Uint8Array | undefined>;

/** Per request: what all providers accept, and what fits into memory several times. */
const MOST_IMAGES = 20;
const MOST_IMAGE_BYTES = 20 * 1024 * 1024;
const MOST_TEXT_BYTES = 1024 * 1024;
/** Per text file, in bytes: half from its beginning, half from its end. */
const SHOWN_TEXT_BYTES = 256 * 1024;
/** The most that a model gets of the text of a PDF. */
export const SHOWN_PDF_BYTES = 64 * 1024;

/**
 * Reads the attachments of the messages, newest first, until the request is full. For older ones the model gets a
 * description.
 */
export async function readAttached(messages: readonly Message[], read: ReadAttachment): Promise<AttachedContents> {
  const contents = new Map<string, AttachedContent>();
  const left = { image: MOST_IMAGE_BYTES, images: MOST_IMAGES, text: MOST_TEXT_BYTES };
  const named = messages.flatMap(seenIn);
  for (const attachment of named.reverse()) {
    const { attachment_id: id } = attachment;
    if (!contents.has(id)) contents.set(id, takeRoom(attachment, left) ? await contentOf(attachment, read) : NO_ROOM);
  }
  return contents;
}

const NO_ROOM = { kind: 'absent', why: 'newer attachments filled the request' } as const satisfies AttachedContent;

/** Whether the request has room for the attachment, which then takes it. */
function takeRoom(attachment: Attachment, left: { image: number; images: number; text: number }): boolean {
  const what = attachment.kind === 'image' ? 'image' : 'text';
  const bytes = what === 'image' ? attachment.size_bytes : mostTextOf(attachment);
  if (left[what] < bytes || (what === 'image' && left.images === 0)) return false;
  left[what] -= bytes;
  if (what === 'image') left.images -= 1;
  return true;
}

/** The attachments of a message that a model reads. Of the others it reads only the names. */
export function seenIn(message: Message): readonly Attachment[] {
  if (message.role === 'assistant' || message.unseen === 'all') return [];
  const { attachments = [], unseen } = message;
  return attachments.filter(({ kind }) => !isOnlyNamed(kind) && (unseen !== 'images' || kind !== 'image'));
}

/** Recordings and videos, which no model here reads. */
export const isOnlyNamed = (kind: Attachment['kind']): kind is 'audio' | 'video' =>
  kind === 'audio' || kind === 'video';

/** How many bytes of text a model gets of a file that is no image, at most. */
export function mostTextOf({ kind, size_bytes }: Pick<Attachment, 'kind' | 'size_bytes'>): number {
  if (isOnlyNamed(kind)) return 0;
  return kind === 'pdf' ? SHOWN_PDF_BYTES : Math.min(size_bytes, SHOWN_TEXT_BYTES);
}

/**
 * If a request with these messages has no room for all attachments: the index of the message up to which they are to
 * leave it. Half of the room stays free, so that this is rare.
 */
export function findCrowded(messages: readonly Message[]): number | undefined {
  if (messages.length === 0 || !isOver(loadOf(messages), 1)) return undefined;
  const newest = messages.findLastIndex((message) => seenIn(message).length > 0);
  for (let index = newest - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message && seenIn(message).length > 0 && isOver(loadOf(messages.slice(index)), 0.5)) return index;
  }
  return undefined;
}

interface Load {
  images: number;
  imageBytes: number;
  textBytes: number;
}

const isOver = ({ images, imageBytes, textBytes }: Load, share: number): boolean =>
  images > MOST_IMAGES * share || imageBytes > MOST_IMAGE_BYTES * share || textBytes > MOST_TEXT_BYTES * share;

/** What the attachments of some messages take, each file once. */
function loadOf(messages: readonly Message[]): Load {
  const files = [...new Map(messages.flatMap(seenIn).map((file) => [file.attachment_id, file])).values()];
  const images = files.filter(({ kind }) => kind === 'image');
  const texts = files.filter(({ kind }) => kind !== 'image');
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
  return {
    images: images.length,
    imageBytes: sum(images.map(({ size_bytes: bytes }) => bytes)),
    textBytes: sum(texts.map(mostTextOf)),
  };
}

async function contentOf(attachment: Attachment, read: ReadAttachment): Promise<AttachedContent> {
  const bytes = await read(attachment);
  if (!bytes) return GONE;
  const { kind } = attachment;
  return kind === 'image' ? { kind, bytes } : { kind: 'text', text: toShownText(bytes) };
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
