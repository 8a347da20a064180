import { isUtf8 } from 'node:buffer';

/** How the content of an answer is read. */
export type PageKind = 'html' | 'text' | 'binary';

/** How content of this type is read; without a type, its first bytes tell. */
export function kindOf(contentType: string | undefined, bytes: Uint8Array): PageKind {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^(text\/html|application\/xhtml\+xml)$/.test(type)) return 'html';
  const isUnknown = type === '' || type === 'application/octet-stream';
  if (isUnknown && /^\s*(<!doctype html|<html)/i.test(Buffer.from(bytes.subarray(0, 512)).toString('latin1')))
    return 'html';
  const isText = TEXT_TYPES.test(type) || isUnknown;
  return isText && !isBinary(bytes) ? 'text' : 'binary';
}

const TEXT_TYPES =
  /^(text\/.*|application\/(.*\+)?(json|xml|yaml|toml)|application\/(javascript|ecmascript|x-[a-z-]*(sh|yaml|toml|javascript|json|httpd-php)|sql|graphql|ld\+json|x-ndjson|jsonl|x-www-form-urlencoded))$/;

/** UTF-16 has zero bytes, too, but begins with a mark. */
const isBinary = (bytes: Uint8Array): boolean =>
  bytes.subarray(0, 8_192).includes(0) &&
  !/^(\xff\xfe|\xfe\xff)/.test(Buffer.from(bytes.subarray(0, 2)).toString('latin1'));

interface ArrivedBytes {
  bytes: Uint8Array;
  contentType: string | undefined;
  /** They end anywhere, perhaps inside a character. */
  isCut: boolean;
}

/** Decodes text: by its mark, the charset of the answer, the one that the page names, or else as UTF-8 if it is that. */
export function decodeText({ bytes, contentType, isCut }: ArrivedBytes): string {
  const start = Buffer.from(bytes.subarray(0, 2_048)).toString('latin1');
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ?? namedIn(start);
  const marked = /^\xef\xbb\xbf/.test(start) ? 'utf-8' : markOf(start);
  const usual = isUtf8(isCut ? withoutPart(bytes) : bytes) ? 'utf-8' : 'windows-1252';
  return decoderFor(marked ?? named ?? usual).decode(bytes);
}

/** Without what may be a part of a character. */
function withoutPart(bytes: Uint8Array): Uint8Array {
  const last = bytes.subarray(-4).findLastIndex((byte) => byte >= 0xc0);
  return last === -1 ? bytes : bytes.subarray(0, Math.max(0, bytes.length - 4) + last);
}

const markOf = (start: string): string | undefined =>
  start.startsWith('\xff\xfe') ? 'utf-16le' : start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;

const namedIn = (start: string): string | undefined =>
  /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1] ??
  /^<\?xml[^>]+encoding=["']([\w.:-]+)/i.exec(start)?.[1];

function decoderFor(name: string): TextDecoder {
  try {
    return new TextDecoder(name);
  } catch {
    return new TextDecoder('utf-8'); // a name that nobody knows
  }
}
