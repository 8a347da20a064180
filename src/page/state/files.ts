import { attachmentEndpoints, conversationEndpoints } from '../../../protocol/client/endpoint-addresses.ts';
import type { HttpCalls } from '../../../protocol/client/http-calls.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';

/** The URL of the content of an attachment. */
export const contentAddress = (wsId: string, attachmentId: string): string =>
  `/v1/api/workstreams/${wsId}/attachments/${attachmentId}/content`;

/** The URL of a conversation as a file. */
export const exportAddress = (wsId: string, format: 'json' | 'markdown'): string =>
  `/v1/api/workstreams/${wsId}/export?format=${format}`;

/**
 * Uploads and removes attachments over HTTP, with the login cookie. A refusal throws an error with the daemon's
 * message.
 */
export function createFiles(http: Pick<HttpCalls, 'call'>) {
  return {
    upload: (wsId: string, file: File, signal: AbortSignal): Promise<Attachment> =>
      http.call(attachmentEndpoints.upload, { ws_id: wsId, file }, { signal }),

    /** The files that this person has uploaded and not sent yet. */
    pending: async (wsId: string): Promise<Attachment[]> =>
      (await http.call(attachmentEndpoints.list, { ws_id: wsId })).attachments,

    /** Makes a new workstream from an exported conversation. */
    importConversation: async (file: File): Promise<{ ws_id: string }> =>
      http.call(conversationEndpoints.import, parsed(await file.text()), { timeoutMs: IMPORT_MS }),

    async remove(wsId: string, attachmentId: string): Promise<void> {
      await http.call(attachmentEndpoints.remove, { ws_id: wsId, attachment_id: attachmentId });
    },
  };
}

/** Enough for a large file over a slow connection. */
const IMPORT_MS = 600_000;

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('This file is not an exported conversation.');
  }
}

export type Files = ReturnType<typeof createFiles>;
