import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpClient } from '../../../protocol/client/http-client.ts';
import { createFiles, exportAddress } from './files.ts';

const STORED = { attachment_id: 'att_1', filename: 'a', mime_type: 'text/plain', size_bytes: 1, kind: 'text' };

function setUp(...answers: Response[]) {
  const asked: string[] = [];
  const files = createFiles(
    createHttpClient({
      baseUrl: 'http://127.0.0.1:7717',
      async fetch(input, init) {
        const request = new Request(input, init);
        request.signal.throwIfAborted();
        asked.push(`${request.method} ${new URL(request.url).pathname}`);
        return answers.shift() ?? assert.fail('one request too many');
      },
    }),
  );
  return { files, asked };
}

const FILE = new File(['x'], 'a');
const going = () => new AbortController().signal;

test('a file is uploaded to its workstream, and removed from it', async () => {
  const { files, asked } = setUp(Response.json(STORED), Response.json({ status: 'ok' }));
  assert.deepEqual(await files.upload('w', FILE, going()), STORED);
  await files.remove('w', 'att_1');
  assert.deepEqual(asked, ['POST /v1/api/workstreams/w/attachments', 'DELETE /v1/api/workstreams/w/attachments/att_1']);
});

test('a refusal shows the message of the daemon; the error page of a proxy shows its status', async () => {
  const tooLarge = '<html><head><title>413 Request Entity Too Large</title></head></html>';
  const { files } = setUp(
    Response.json({ error: 'The file is empty' }, { status: 400 }),
    new Response(`\n${tooLarge}`, { status: 413 }),
  );
  await assert.rejects(files.upload('w', FILE, going()), { message: 'The file is empty' });
  await assert.rejects(files.upload('w', FILE, going()), { message: 'status 413' });
});

test('an exported conversation is imported; another file is refused here', async () => {
  const { files, asked } = setUp(Response.json({ ws_id: 'w', name: 'garden', message_count: 1 }));
  assert.equal((await files.importConversation(new File(['{"version":1}'], 'a.json'))).ws_id, 'w');
  await assert.rejects(files.importConversation(new File(['# Notes'], 'a.md')), {
    message: 'This file is not an exported conversation.',
  });
  assert.deepEqual(asked, ['POST /v1/api/workstreams/import']);
  assert.equal(exportAddress('w', 'markdown'), '/v1/api/workstreams/w/export?format=markdown');
});

test('an unwanted upload is aborted', async () => {
  const { files, asked } = setUp();
  await assert.rejects(files.upload('w', FILE, AbortSignal.abort(new Error('taken away'))), { message: 'taken away' });
  assert.deepEqual(asked, []);
});
