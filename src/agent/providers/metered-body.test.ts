import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMeter } from './metered-body.ts';

function setUp(status = 200) {
  const cancelled: unknown[] = [];
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(Buffer.from(`piece ${pulled};`));
        if (pulled === 3) controller.close();
      },
      cancel: (reason) => void cancelled.push(reason),
    },
    { highWaterMark: 0 },
  );
  const fetch = async () => new Response(body, { status, headers: { 'x-one': '1' } });
  return { fetch, cancelled, pulled: () => pulled };
}

test('a body passes through unchanged, and each chunk is inspected', async () => {
  const { fetch } = setUp();
  const seen: string[] = [];
  const response = await withMeter(fetch, (bytes) => seen.push(Buffer.from(bytes).toString()))('http://x/');
  assert.deepEqual(
    { text: await response.text(), header: response.headers.get('x-one'), seen },
    { text: 'piece 1;piece 2;piece 3;', header: '1', seen: ['piece 1;', 'piece 2;', 'piece 3;'] },
  );
});

test('the reader gets the error of the inspection, and the source is closed', async () => {
  const { fetch, cancelled, pulled } = setUp();
  const refusal = new Error('enough');
  const response = await withMeter(fetch, () => {
    throw refusal;
  })('http://x/');
  await assert.rejects(response.text(), refusal);
  assert.deepEqual({ cancelled, pulled: pulled() }, { cancelled: [refusal], pulled: 1 });
});

test('a reader that stops closes the source, and nothing is read ahead', async () => {
  const { fetch, cancelled, pulled } = setUp();
  const response = await withMeter(fetch, () => undefined)('http://x/');
  assert.equal(pulled(), 0);
  await response.body?.cancel('bye');
  assert.deepEqual({ cancelled, pulled: pulled() }, { cancelled: ['bye'], pulled: 0 });
});

test('the body of an error response is not inspected', async () => {
  const { fetch } = setUp(500);
  const response = await withMeter(fetch, () => assert.fail())('http://x/');
  assert.equal(await response.text(), 'piece 1;piece 2;piece 3;');
});
