import type { FileType } from '../../protocol/methods/conversation/file-types.ts';
import type { Attachment } from '../../protocol/stream-events.ts';

/** How many bytes at the beginning show whether a file is an image. */
export const MAGIC_BYTES = 16;

/** The media type of an image by its first bytes; undefined for other files. The sender's type is ignored. */
export function imageTypeOf(head: Uint8Array): FileType | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, MAGIC_BYTES)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return undefined;
}

/** A file is text if all of it is UTF-8 without NUL. */
export function createTextCheck(): { add(chunk: Uint8Array): boolean; end(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isText = true;
  const decode = (chunk?: Uint8Array): boolean => {
    try {
      isText &&= chunk
        ? !chunk.includes(0) && decoder.decode(chunk, { stream: true }) !== undefined
        : decoder.decode() === '';
    } catch {
      isText = false; // invalid UTF-8
    }
    return isText;
  };
  return { add: decode, end: () => decode() };
}

export const TEXT_TYPE = 'text/plain';

const MAX_NAME_CHARS = 200;

/** A readable file name that cannot act as a path: the last part of the sender's name, without control characters. */
export function safeFileName(said: string | undefined, kind: Attachment['kind']): string {
  const last = (said ?? '').split(/[/\\]/).at(-1) ?? '';
  const clean = last
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  return [...clean].slice(0, MAX_NAME_CHARS).join('') || kind;
}
