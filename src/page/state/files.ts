import { endpoints } from '../../../protocol/client/endpoint-addresses.ts';
import type { HttpClient } from '../../../protocol/client/http-client.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';

/** The URL of the content of an attachment. */
export const contentAddress = (wsId: string, attachmentId: string): string =>
  `/v1/api/workstreams/${wsId}/attachments/${attachmentId}/content`;

/**
 * Uploads and removes attachments over HTTP, with the login cookie. A refusal throws an error with the daemon's
 * message.
 */
export function createFiles(http: Pick<HttpClient, 'call'>) {
  return {
    upload: (wsId: string, file: File, signal: AbortSignal): Promise<Attachment> =>
      http.call(endpoints.attachment.upload, { ws_id: wsId, file }, { signal }),

    async remove(wsId: string, attachmentId: string): Promise<void> {
      await http.call(endpoints.attachment.remove, { ws_id: wsId, attachment_id: attachmentId });
    },
  };
}

export type Files = ReturnType<typeof createFiles>;
