import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { wholeGateway } from '../../../testing/whole-gateway.ts';
import { GraphError } from '../graph-error.ts';
import { prepareMedia } from './upload-media.ts';

const URL = 'https://files.example/a%20list.csv';
const MIB = 1024 * 1024;
const MP3 = Buffer.from('ID3\x04\0\0', 'latin1');

const gateway = await wholeGateway();

/** How a message with this file is sent, and what was uploaded. */
async function prepared(
  body: Uint8Array<ArrayBuffer>,
  { message = 'a **list**', type = 'text/csv', fails = undefined as unknown, status = 200 } = {},
) {
  const uploads: string[] = [];
  const api = {
    async upload({ fileName, contentType }: { fileName: string; contentType: string }) {
      if (fails !== undefined) throw fails;
      uploads.push(`${contentType} ${fileName}`);
      return 'media-1';
    },
  };
  const deps = {
    api: api as never,
    store: gateway.store,
    signal: new AbortController().signal,
    fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
    clock: fakeClock(5),
  };
  const { render, toMessage } = await prepareMedia({ messageId: 'new', message }, URL, deps);
  const chunks = render();
  const sent = chunks.map((chunk) => {
    try {
      return toMessage(chunk);
    } catch (error) {
      return error instanceof GraphError ? [error.kind, error.message] : assert.fail();
    }
  });
  return { uploads, sent };
}

test('a document has its name and the text as its caption; a longer text and that of a recording follow', async () => {
  const media = { id: 'media-1', fileName: 'a list.csv' };
  assert.deepEqual(await prepared(Buffer.from('a,b')), {
    uploads: ['text/csv a list.csv'],
    sent: [{ type: 'document', media, caption: 'a *list*' }],
  });
  const long = 'x'.repeat(1_025);
  assert.deepEqual((await prepared(Buffer.from('a,b'), { message: long })).sent, [
    { type: 'document', media },
    { type: 'text', text: long },
  ]);
  assert.deepEqual(await prepared(MP3), {
    uploads: ['audio/mpeg a list.csv'],
    sent: [
      { type: 'audio', media: { id: 'media-1' } },
      { type: 'text', text: 'a *list*' },
    ],
  });
});

test('a file that WhatsApp or its limits refuse fails as a part, and the text names its address', async () => {
  const text = { type: 'text', text: `a *list*\n\n${URL}` };
  const png = Buffer.alloc(5 * MIB + 1);
  png.write('\x89PNG\r\n\x1a\n', 'latin1');
  const mp3 = Buffer.concat([MP3, Buffer.alloc(16 * MIB)]);
  const refused = new GraphError('rejected', 'WhatsApp refused the upload: wrong type (100).', { code: 100 });
  for (const [why, sent] of [
    ['WhatsApp takes image files of up to 5 MiB', prepared(png)],
    ['WhatsApp takes audio files of up to 16 MiB', prepared(mp3)],
    ['WhatsApp refused the upload: wrong type (100)', prepared(Buffer.from('a'), { fails: refused })],
    ['HTTP 404', prepared(Buffer.from('a'), { status: 404 })],
  ] as const)
    assert.deepEqual((await sent).sent, [['rejected', `The file was not sent: ${why}.`], text]);
});

test('an upload that may succeed later is tried again before anything is recorded', async () => {
  const limited = new GraphError('rate-limited', 'slower', { code: 4, retryAfterMs: 60_000 });
  await assert.rejects(prepared(Buffer.from('a'), { fails: limited }), { name: 'NotNow', againInMs: 60_000 });
  const lost = new GraphError('ambiguous', 'no answer');
  await assert.rejects(prepared(Buffer.from('a'), { fails: lost }), { name: 'DeliveryError', retryable: true });
});
