import { randomBytes } from 'node:crypto';
import type { File } from '@grammyjs/types';
import { badRequest } from './bot-failure.ts';

/** A file that somebody sends. */
export interface SentFile {
  kind: 'photo' | 'document' | 'voice' | 'audio' | 'video' | 'sticker';
  bytes: Uint8Array;
  fileName?: string;
  mimeType?: string;
  caption?: string;
  /** The size that Telegram announces, if it is not the real one; undefined: it announces none. */
  announcedSize?: number | undefined;
}

interface StoredFile {
  fileId: string;
  path: string;
  bytes: Uint8Array;
  size: number | undefined;
}

/** Bots may download up to this. */
const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;

/** The files of messages. */
export class StoredFiles {
  readonly #byId = new Map<string, StoredFile>();

  add(file: SentFile): StoredFile {
    const fileId = `AgAC${randomBytes(18).toString('base64url')}`;
    const path = `${file.kind}s/file_${this.#byId.size}${extensionOf(file)}`;
    const size = 'announcedSize' in file ? file.announcedSize : file.bytes.byteLength;
    const stored = { fileId, path, bytes: file.bytes, size };
    this.#byId.set(fileId, stored);
    return stored;
  }

  /** As `getFile`. */
  describe(fileId: string | undefined): File {
    const stored = this.#byId.get(fileId ?? '');
    if (!stored) throw badRequest('wrong file_id or the file is temporarily unavailable');
    if ((stored.size ?? stored.bytes.byteLength) > MAX_DOWNLOAD_BYTES) throw badRequest('file is too big');
    const file = { file_id: stored.fileId, file_unique_id: stored.fileId.slice(-8), file_path: stored.path };
    return { ...file, ...(stored.size !== undefined && { file_size: stored.size }) };
  }

  has(fileId: string): boolean {
    return this.#byId.has(fileId);
  }

  at(path: string): Uint8Array | undefined {
    return [...this.#byId.values()].find((file) => file.path === path)?.bytes;
  }
}

/** The fields of a message that holds the file. */
export function toMedia(file: SentFile, { fileId, size }: StoredFile) {
  const base = {
    file_id: fileId,
    file_unique_id: fileId.slice(-8),
    ...(size !== undefined && { file_size: size }),
    ...(file.mimeType !== undefined && { mime_type: file.mimeType }),
  };
  const named = { ...base, ...(file.fileName !== undefined && { file_name: file.fileName }) };
  const frame = { width: 640, height: 480 };
  switch (file.kind) {
    case 'photo':
      return { photo: [{ ...base, ...frame }] };
    case 'document':
      return { document: named };
    case 'voice':
      return { voice: { ...base, duration: 3 } };
    case 'audio':
      return { audio: { ...named, duration: 3 } };
    case 'video':
      return { video: { ...named, ...frame, duration: 3 } };
    case 'sticker':
      return { sticker: { ...base, ...frame, type: 'regular' as const, is_animated: false, is_video: false } };
  }
}

function extensionOf({ kind, fileName }: SentFile): string {
  const usual = { photo: '.jpg', voice: '.oga', audio: '.mp3', video: '.mp4', sticker: '.webp', document: '' };
  return /\.\w+$/.exec(fileName ?? '')?.[0] ?? usual[kind];
}
