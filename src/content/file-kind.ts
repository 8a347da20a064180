import type { Attachment } from '../../protocol/stream-events.ts';

/** Bytes from the beginning that say whether a file is an image. */
export const MAGIC_BYTES = 16;

/** The media type of an image by its first bytes; undefined for all else. What the sender says counts for nothing. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, MAGIC_BYTES)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return undefined;
}

/** Text is whatever is UTF-8 from the first byte to the last and holds no NUL. */
export function createTextCheck(): { add(chunk: Uint8Array): boolean; end(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isText = true;
  const decode = (chunk?: Uint8Array): boolean => {
    try {
      isText &&= chunk
        ? !chunk.includes(0) && decoder.decode(chunk, { stream: true }) !== undefined
        : decoder.decode() === '';
    } catch {
      isText = false; // that is the answer
    }
    return isText;
  };
  return { add: decode, end: () => decode() };
}

export const TEXT_TYPE = 'text/plain';

const MAX_NAME_CHARS = 200;

/** A name that people can read and no path can be made of; the last part of what the sender said. */
export function safeFileName(said: string | undefined, kind: Attachment['kind']): string {
  const last = (said ?? '').split(/[/\\]/).at(-1) ?? '';
  const clean = last
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  return [...clean].slice(0, MAX_NAME_CHARS).join('') || kind;
}
