import { GatewayError } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Attachment } from '../../protocol/stream-events.ts';
import { createTextCheck, imageTypeOf, TEXT_TYPE } from './file-kind.ts';
import { HEAD_BYTES, mediaTypeOf } from './media-type.ts';

/** The type and size of a file, from its bytes. */
export type ContentType = Pick<Attachment, 'mime_type' | 'size_bytes' | 'kind'>;

/** Passes on the bytes of a file, and throws as soon as they cannot be attached. `type` is available at the end. */
export class CheckedContent {
  #type: ContentType | undefined;
  readonly #bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

  constructor(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#bytes = bytes;
  }

  get type(): ContentType {
    if (!this.#type) throw new Error('the file was not read to its end');
    return this.#type;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const text = createTextCheck();
    let head: Uint8Array = new Uint8Array();
    let size = 0;
    for await (const chunk of this.#bytes) {
      size += chunk.length;
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)]);
      const what = imageTypeOf(head) === undefined ? 'file' : 'image';
      if (size > MOST_BYTES[what]) throw tooLarge(what);
      const mayBeKnown = what === 'image' || mediaTypeOf(head) !== undefined || head.length < HEAD_BYTES;
      if (!text.add(chunk) && !mayBeKnown) throw unsupported();
      yield chunk;
    }
    this.#type = typeOf({ head, size, isText: text.end() });
  }
}

function typeOf({ head, size, isText }: { head: Uint8Array; size: number; isText: boolean }): ContentType {
  if (size === 0) throw new GatewayError('INVALID_REQUEST', 'The file is empty');
  const imageType = imageTypeOf(head);
  if (imageType !== undefined) return { mime_type: imageType, size_bytes: size, kind: 'image' };
  const media = mediaTypeOf(head);
  if (media !== undefined) return { ...media, size_bytes: size };
  if (!isText) throw unsupported();
  return { mime_type: TEXT_TYPE, size_bytes: size, kind: 'text' };
}

/** Its message contains the limit. */
export const tooLarge = (what: keyof typeof MOST_BYTES): GatewayError =>
  new GatewayError('PAYLOAD_TOO_LARGE', `The ${what} is too large: at most ${MOST_BYTES[what] / MIB} MiB`);

const MOST_BYTES = { image: LIMITS.imageBytes, file: LIMITS.attachmentBytes };
const MIB = 1024 * 1024;

const unsupported = () =>
  new GatewayError(
    'INVALID_REQUEST',
    'Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached',
  );
