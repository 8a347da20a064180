import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { endpoints } from '../../protocol/client/endpoint-addresses.ts';
import { createHttpClient } from '../../protocol/client/http-client.ts';
import type { Attachment } from '../../protocol/stream-events.ts';
import { CheckedContent } from '../content/content-check.ts';
import { whyUnreadable } from '../home/why-unreadable.ts';
import { UsageError } from '../start-error.ts';
import type { Target } from './connect.ts';

/** Enough for a large file over a slow connection. */
const UPLOAD_MS = 120_000;

/** Uploads a file for the next message of a workstream. The same file under the same key is uploaded once. */
export type Upload = (wsId: string, file: File, key: string) => Promise<Attachment>;

export function createUpload({ url, token }: Target): Upload {
  const http = createHttpClient({ baseUrl: new URL('/', url.replace(/^ws/, 'http')).href, token });
  return (wsId, file, key) =>
    http.call(
      endpoints.attachment.upload,
      { ws_id: wsId, file },
      {
        timeoutMs: UPLOAD_MS,
        idempotencyKey: toHeaderKey(key),
      },
    );
}

/** Reads the bytes of an attachment. */
export function createDownload({ url, token }: Target): (wsId: string, attachmentId: string) => Promise<Uint8Array> {
  const http = createHttpClient({ baseUrl: new URL('/', url.replace(/^ws/, 'http')).href, token });
  return async (ws_id, attachment_id) => {
    const asked = { ws_id, attachment_id };
    const blob = await http.download(endpoints.attachment.content, asked, { timeoutMs: UPLOAD_MS });
    return new Uint8Array(await blob.arrayBuffer());
  };
}

/** Like Upload, for the file at a path. */
export type PathUpload = (wsId: string, name: string, key: string) => Promise<Attachment>;

export function createPathUpload(target: Target, around: { cwd: string }): PathUpload {
  const upload = createUpload(target);
  return async (wsId, name, key) => upload(wsId, await readAttachment(name, around), key);
}

/** A key from the command line may be long and have any characters; a header may not. */
const toHeaderKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

/** Reads the file at a path. Throws UsageError if it is missing or the daemon would not accept it. */
export async function readAttachment(name: string, { cwd }: { cwd: string }): Promise<File> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    const bytes = new CheckedContent(createReadStream(path.resolve(cwd, name)));
    for await (const chunk of bytes) chunks.push(new Uint8Array(chunk));
  } catch (cause) {
    throw new UsageError(`${name} cannot be attached: ${whyUnreadable(cause)}`, { cause });
  }
  return new File(chunks, path.basename(name));
}
