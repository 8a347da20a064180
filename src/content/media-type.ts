import type { FileType } from '../../protocol/methods/conversation/file-types.ts';
import type { Attachment } from '../../protocol/stream-events.ts';

/** How many bytes at the beginning show the type of a file. */
export const HEAD_BYTES = 64;

type Kind = Exclude<Attachment['kind'], 'image' | 'text'>;

/** The type of a PDF, a recording or a video by its first bytes; undefined for other files. */
export function mediaTypeOf(head: Uint8Array): { mime_type: FileType; kind: Kind } | undefined {
  const found = nameOf(Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES)));
  return found === undefined ? undefined : { mime_type: found, kind: kindOfMedia(found) ?? 'pdf' };
}

/** Undefined for images and text. */
export function kindOfMedia(mimeType: string): Kind | undefined {
  if (mimeType === PDF_TYPE) return 'pdf';
  if (mimeType.startsWith('audio/')) return 'audio';
  return mimeType.startsWith('video/') ? 'video' : undefined;
}

const PDF_TYPE = 'application/pdf';

/** Before the frames of an MP3, in the versions of tags. */
const TAGS: ReadonlySet<string> = new Set(['ID3\x02\0', 'ID3\x03\0', 'ID3\x04\0']);

/** Signatures are as long as the formats allow, so that a text that begins with the same letters stays a text. */
function nameOf(head: Buffer): FileType | undefined {
  const text = head.toString('latin1');
  if (/^%PDF-\d/.test(text)) return PDF_TYPE;
  if (text.startsWith('OggS\0')) return 'audio/ogg';
  if (text.startsWith('fLaC\0')) return 'audio/flac';
  if (/^#!AMR(?:\n|-WB\n)/.test(text)) return 'audio/amr';
  if (TAGS.has(text.slice(0, 5))) return 'audio/mpeg';
  if (/^RIFF.{4}WAVE/s.test(text)) return 'audio/wav';
  if (/^RIFF.{4}AVI /s.test(text)) return 'video/x-msvideo';
  if (text.startsWith('\x1a\x45\xdf\xa3')) return text.includes('webm') ? 'video/webm' : 'video/x-matroska';
  return ofBoxes(text) ?? ofFrames(head);
}

/** Files made of boxes, such as MP4. Pictures of this kind are none of the images that models accept. */
function ofBoxes(text: string): FileType | undefined {
  const brand = text.startsWith('\0') && text.slice(4, 8) === 'ftyp' ? text.slice(8, 12) : '';
  if (brand.length < 4 || /^(?:hei|hev|mif|msf|avi|jp|jxl)/.test(brand)) return undefined;
  if (/^M4[ABP] $/.test(brand)) return 'audio/mp4';
  if (brand === 'qt  ') return 'video/quicktime';
  return brand.startsWith('3g') ? 'video/3gpp' : 'video/mp4';
}

/** Recordings that begin with a frame: AAC (ADTS), and MP3 without a tag. */
function ofFrames([first = 0, second = 0]: Uint8Array): FileType | undefined {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  if ((second & 0xf6) === 0xf0) return 'audio/aac';
  return (second & 0x06) === 0x02 ? 'audio/mpeg' : undefined;
}
