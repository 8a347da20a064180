import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ChatAttachment } from '../../../protocol/methods/chat.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { imageTypeOf, safeFileName } from '../../content/file-kind.ts';

/** A decoded file that came inside its message, or inside a conversation. */
export interface InlineFile {
  fileName: string;
  mimeType: string;
  kind: Attachment['kind'];
  bytes: Buffer;
}

/** Throws INVALID_REQUEST that names the attachment; for large images it names the upload as the alternative. */
export function decodeInline(given: readonly ChatAttachment[]): InlineFile[] {
  const images = given.map(decode);
  const total = images.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (images.length > 1 && total > LIMITS.inlineAttachmentBytes) {
    throw new GatewayError('INVALID_REQUEST', `attachments: together they exceed the size limit ${ALTERNATIVE}`);
  }
  return images;
}

const ALTERNATIVE =
  `(${LIMITS.inlineAttachmentBytes} bytes); upload larger ones with POST /v1/api/workstreams/{ws_id}/attachments ` +
  'and name them in attachmentIds';

function decode({ type, mimeType, fileName, content }: ChatAttachment, index: number): InlineFile {
  const label = fileName || type || `attachment-${index + 1}`;
  const refuse = (why: string) =>
    new GatewayError('INVALID_REQUEST', `attachment ${safeFileName(label, 'image')}: ${why}`);
  if (mimeType !== undefined && !/^image\//i.test(mimeType.trim())) throw refuse('only image/* supported');
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(content)) throw refuse('invalid base64 content');
  const bytes = Buffer.from(content, 'base64');
  if (bytes.length > LIMITS.inlineAttachmentBytes) throw refuse(`exceeds size limit ${ALTERNATIVE}`);
  const found = imageTypeOf(bytes);
  if (found === undefined) throw refuse('only image/* supported (PNG, JPEG, GIF or WebP)');
  return { fileName: safeFileName(fileName, 'image'), mimeType: found, kind: 'image', bytes };
}
