import type { Media } from '../../calls/load-media.ts';

type SentKind = 'image' | 'video' | 'audio' | 'document';

const MIB = 1024 * 1024;
/** What the Cloud API takes of each kind. */
const MOST_BYTES: Readonly<Record<SentKind, number>> = {
  image: 5 * MIB,
  video: 16 * MIB,
  audio: 16 * MIB,
  document: 100 * MIB,
};
/** More than that is not loaded. */
export const MAX_FILE_BYTES = MOST_BYTES.document;

/** Everything else is a document. */
const KINDS: ReadonlyMap<string, SentKind> = new Map<string, SentKind>([
  ...['image/jpeg', 'image/png'].map((type): [string, SentKind] => [type, 'image']),
  ...['video/mp4', 'video/3gpp'].map((type): [string, SentKind] => [type, 'video']),
  ...['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'].map((type): [string, SentKind] => [
    type,
    'audio',
  ]),
]);

/** As what WhatsApp shows a file, or why it does not take it. */
export function mediaKindOf({
  contentType,
  bytes,
}: Pick<Media & { kind: 'loaded' }, 'contentType' | 'bytes'>): { kind: SentKind } | { why: string } {
  const kind = KINDS.get(contentType) ?? 'document';
  const most = MOST_BYTES[kind];
  return bytes.length <= most ? { kind } : { why: `WhatsApp takes ${kind} files of up to ${most / MIB} MiB` };
}
