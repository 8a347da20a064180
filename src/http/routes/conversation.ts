import { pipeline } from 'node:stream/promises';
import { conversationEndpoints } from '../../../protocol/http/conversation.ts';
import type { Exportable, Exports } from '../../gateway/portable/exports.ts';
import { bind, given } from '../bind.ts';
import { type Exchange, everyAnswer, json, type Respond } from '../exchange.ts';
import { type Guarded, known } from '../guard.ts';
import { queryOf, read } from '../input/fields.ts';
import { iso, momentOf } from '../iso.ts';
import { dispositionOf } from './attachment.ts';

/** Searching messages, and reading a conversation into a new workstream. */
export const conversationRoutes = [
  bind(conversationEndpoints.find, 'workstream.find', {
    params: ({ query, limit, workdir, model, user_id, since, until }) => ({
      query,
      limit,
      workdir: given(workdir),
      modelAlias: given(model),
      userId: user_id,
      updatedSinceMs: momentOf(since),
      updatedBeforeMs: momentOf(until),
    }),
    fieldNames: { modelAlias: 'model', updatedSinceMs: 'since', updatedBeforeMs: 'until' },
    reply: ({ messages, isIncomplete }) => ({
      messages: messages.map(({ wsId, name, seq, role, createdMs, excerpt }) => ({
        ws_id: wsId,
        name,
        seq,
        role,
        created: iso(createdMs),
        excerpt,
      })),
      incomplete: isIncomplete,
    }),
  }),
  bind(conversationEndpoints.import, 'workstream.import', {
    params: ({ workdir, ...conversation }) => ({ conversation, workdir: given(workdir) }),
    fieldNames: { conversation: '' },
    reply: ({ wsId, name, messageCount, unknownModel, missingFiles }) => ({
      ws_id: wsId,
      name,
      message_count: messageCount,
      ...(unknownModel !== undefined && { unknown_model: unknownModel }),
      ...(missingFiles && { missing_files: missingFiles }),
    }),
  }),
];

interface ExportRouteDeps {
  exports: Pick<Exports, 'open'>;
  respond: Respond;
}

/** A conversation may be longer than one answer of a method, so it is streamed. */
export const exportRoute = ({ exports, respond }: ExportRouteDeps): Guarded => ({
  endpoint: conversationEndpoints.export,
  async work(exchange, caller) {
    const { ws_id, format } = read(conversationEndpoints.export, { ...queryOf(exchange), ...exchange.fields });
    const exported = await exports.open(ws_id, known(caller));
    const pieces = exported[format]();
    const first = await pieces.next(); // fails before the headers are sent
    const type = FILE_TYPES[format];
    exchange.res.writeHead(200, {
      ...everyAnswer(exchange),
      'Content-Type': type.contentType,
      'Content-Disposition': dispositionOf({ kind: 'text', filename: `${toFileName(exported)}.${type.extension}` }),
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    });
    await send(exchange, { first: first.value ?? '', rest: pieces });
    respond(exchange, json(200, {})); // only counts the request, because the headers are sent
  },
});

const FILE_TYPES = {
  json: { contentType: 'application/json; charset=utf-8', extension: 'json' },
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

const MOST_NAME_CHARS = 60;

const toFileName = ({ label }: Exportable): string =>
  [...label.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '')].slice(0, MOST_NAME_CHARS).join('') ||
  'conversation';

async function send({ res }: Exchange, { first, rest }: { first: string; rest: AsyncIterable<string> }): Promise<void> {
  async function* all() {
    yield first;
    yield* rest;
  }
  try {
    await pipeline(all(), res);
  } catch {
    res.destroy(); // the client disconnected, or the conversation was deleted: the response is incomplete
  }
}
