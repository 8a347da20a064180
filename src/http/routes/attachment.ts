import { pipeline } from 'node:stream/promises';
import type { z } from 'zod';
import { attachmentEndpoints } from '../../../protocol/http/attachment.ts';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { Attachments, Uploader } from '../../gateway/attachments/attachments.ts';
import type { StagedFiles } from '../../gateway/attachments/staged-files.ts';
import type { BodyDeadlines } from '../body-deadlines.ts';
import { type Exchange, everyAnswer, json, type Respond } from '../exchange.ts';
import { type Guarded, known } from '../guard.ts';
import { keyOf, read } from '../input/fields.ts';
import { readUpload } from '../input/upload.ts';

export type AttachmentService = Pick<Attachments, 'receive' | 'list' | 'open' | 'remove'> & {
  staged: Pick<StagedFiles, 'stage' | 'release'>;
};

export interface AttachmentRouteDeps {
  attachments: AttachmentService;
  bodies: Pick<BodyDeadlines, 'mayTakeLong'>;
  respond: Respond;
}

/** Files are sent as bytes and not as JSON, so these endpoints use the attachments directly instead of a method. */
export function attachmentRoutes(deps: AttachmentRouteDeps): Guarded[] {
  const { attachments, bodies, respond } = deps;
  const { upload, list, content, remove } = attachmentEndpoints;
  const route = (
    endpoint: Endpoint,
    work: (exchange: Exchange, by: Omit<Uploader, 'wsId'>) => Promise<void>,
  ): Guarded => ({
    endpoint,
    work(exchange, caller) {
      const viewer = known(caller);
      return work(exchange, { principal: viewer.id, viewer });
    },
  });
  return [
    route(upload, async (exchange, by) => {
      const owner = { wsId: wsIdOf(exchange), ...by };
      const key = keyOf(exchange.req);
      bodies.mayTakeLong(exchange.req);
      const stored = await readUpload(exchange.req, (file) => attachments.receive(owner, file, key));
      respond(exchange, json(200, stored satisfies z.input<ReturnType<typeof upload.reply>>));
    }),
    route(list, async (exchange, by) => {
      const waiting = await attachments.list({ wsId: wsIdOf(exchange), ...by });
      respond(exchange, json(200, { attachments: waiting } satisfies z.input<ReturnType<typeof list.reply>>));
    }),
    route(content, async (exchange, by) => {
      const { ws_id: wsId, attachment_id } = read(content, exchange.fields);
      await sendContent(exchange, { owner: { wsId, ...by }, id: attachment_id, attachments, respond });
    }),
    route(remove, async (exchange, by) => {
      const { ws_id: wsId, attachment_id } = read(remove, exchange.fields);
      await attachments.remove({ wsId, ...by }, attachment_id);
      respond(exchange, json(200, { status: 'ok' } satisfies z.input<ReturnType<typeof remove.reply>>));
    }),
  ];
}

const wsIdOf = ({ fields }: Exchange): string => read(attachmentEndpoints.list, fields).ws_id;

interface Sending {
  owner: Uploader;
  id: string;
  attachments: AttachmentService;
  respond: Respond;
}

/** Sends the file with the type that its bytes have, so that no page can run it as a script. */
async function sendContent(exchange: Exchange, { owner, id, attachments, respond }: Sending): Promise<void> {
  const { res } = exchange;
  const { attachment, bytes } = await attachments.open(owner, id);
  try {
    res.writeHead(200, {
      ...everyAnswer(exchange),
      'Content-Type': attachment.kind === 'text' ? 'text/plain; charset=utf-8' : attachment.mime_type,
      'Content-Length': attachment.size_bytes,
      'Content-Disposition': dispositionOf(attachment),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'private, max-age=31536000, immutable',
      Vary: 'Cookie, Authorization', // the next person at this browser may not see it
    });
    await pipeline(bytes, res);
  } catch {
    res.destroy(); // the client disconnected or the file broke off: the response is incomplete
  } finally {
    bytes.destroy();
    respond(exchange, json(200, {})); // only counts the request, because the headers are sent
  }
}

/** Text is offered as a download, an image is shown. The name is given in both forms that clients read. */
export function dispositionOf({ kind, filename }: Pick<Attachment, 'kind' | 'filename'>): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `${kind === 'image' ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${exact}`;
}
