import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { endpoints } from '../../../protocol/client/endpoint-addresses.ts';
import { createHttpClient } from '../../../protocol/client/http-client.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { type Lab, needs, type Session } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable } from '../verdict.ts';
import { MESSAGE, waitFor } from './calls.ts';

/** Enough for a few bytes, and not long to wait for a server without uploads. */
const UPLOAD_MS = 15_000;
/** Messages queued before the one that is dropped, so that the model does not read it first. */
const AHEAD = 8;
/** On a busy machine, the model may read it anyway. */
const TRIES = 3;

const History = z.object({ messages: z.array(z.unknown()) });
const GIF = Buffer.from('GIF89a, as far as its first bytes say').toString('base64');
const NO_IMAGES = [
  { mimeType: 'image/gif', content: 'no base64!' },
  { mimeType: 'text/plain', content: GIF },
  { mimeType: 'image/gif', content: Buffer.from('no image').toString('base64') },
];

/** A session with a separate workstream and an uploaded file in it. Inapplicable if the server accepts no uploads. */
async function upload(lab: Lab) {
  const session = await lab.connect();
  needs(session, 'chat.send', 'chat.abort', 'chat.history', 'agent.wait');
  const wsId = await lab.makeWorkstream(session);
  const { url, token } = lab.server;
  const http = createHttpClient({ baseUrl: url.replace(/^ws/, 'http'), token });
  const file = new File(['A note of the conformance command.'], 'note.txt');
  try {
    const fields = { ws_id: wsId, file };
    const { attachment_id: id } = await http.call(endpoints.attachment.upload, fields, { timeoutMs: UPLOAD_MS });
    const waiting = async () => {
      const { attachments } = await http.call(endpoints.attachment.list, { ws_id: wsId }, { timeoutMs: UPLOAD_MS });
      return attachments.map(({ attachment_id }) => attachment_id);
    };
    return { session, wsId, id, waiting };
  } catch (error) {
    throw new Inapplicable(`no file can be uploaded: ${error instanceof Error ? error.message : error}`);
  }
}

const send = (session: Session, sessionKey: string, more: object = {}) => {
  const idempotencyKey = randomUUID();
  return {
    runId: idempotencyKey,
    answer: session.request('chat.send', { sessionKey, message: MESSAGE, idempotencyKey, ...more }),
  };
};

async function expectRefused(session: Session, sessionKey: string, more: object): Promise<string> {
  const { error } = await send(session, sessionKey, more).answer;
  expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
  return error?.message ?? '';
}

export const attachmentCases: ConformanceCase[] = [
  {
    must: 'If an inline attachment is not a base64 image, the error must name it and nothing must be sent',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'chat.send', 'chat.history');
      const wsId = await lab.makeWorkstream(session);
      for (const attachment of NO_IMAGES) {
        const told = await expectRefused(session, wsId, { attachments: [{ fileName: 'cat.gif', ...attachment }] });
        expectThat(told.includes('cat.gif'), `the error does not name the file: ${told}`);
      }
      expectEqual(await messagesOf(session, wsId), [], 'the conversation');
    },
  },
  {
    must: 'If two messages name the same file, one must get it, and the other must not be sent',
    async run(lab) {
      const { session, wsId, id, waiting } = await upload(lab);
      const sent = [1, 2].map(() => send(session, wsId, { attachmentIds: [id] }));
      const answers = await Promise.all(sent.map(async ({ answer, runId }) => ({ ok: (await answer).ok, runId })));
      const taken = answers.filter(({ ok }) => ok);
      expectEqual(taken.length, 1, 'how many messages were accepted');
      for (const { runId } of taken) await waitFor(session, runId);
      expectEqual(
        JSON.stringify(await messagesOf(session, wsId)).split(id).length - 1,
        1,
        'messages that name the file',
      );
      expectEqual(await waiting(), [], 'the uploaded files');
    },
  },
  {
    must: 'A refused `chat.send` must not create a session',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'chat.send', 'chat.history');
      const sessionKey = lab.nameSession();
      for (const more of [{ message: ' ' }, { thinking: 'hard' }, { attachments: NO_IMAGES }]) {
        await expectRefused(session, sessionKey, more);
      }
      const history = await session.call('chat.history', { sessionKey });
      expectEqual(history, { sessionKey, messages: [], thinkingLevel: 'off' }, 'the history of the missing session');
    },
  },
  {
    must: 'A queued message that is dropped must release its files',
    async run(lab) {
      for (let tries = 0; tries < TRIES; tries += 1) if (await dropQueued(lab)) return;
      throw new Inapplicable('the model read the message before it could be dropped');
    },
  },
];

/** False if the model read the last message before it could be dropped. */
async function dropQueued(lab: Lab): Promise<boolean> {
  const { session, wsId, id, waiting } = await upload(lab);
  const ahead = Array.from({ length: AHEAD }, () => send(session, wsId));
  const last = send(session, wsId, { attachmentIds: [id] });
  const answers = await Promise.all([...ahead, last].map(({ answer }) => answer));
  if (answers.some(({ ok }) => !ok)) throw new Inapplicable('this server does not queue that many messages');
  await session.call('chat.abort', { sessionKey: wsId });
  if ((await messagesOf(session, wsId)).some((message) => JSON.stringify(message).includes(id))) return false;
  expectEqual(await waiting(), [id], 'the uploaded files');
  return true;
}

async function messagesOf(session: Session, sessionKey: string): Promise<unknown[]> {
  return History.parse(await session.call('chat.history', { sessionKey })).messages;
}
