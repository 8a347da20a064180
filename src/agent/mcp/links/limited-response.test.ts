import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLimits } from './limited-response.ts';

const MIB = 1024 * 1024;
const LIMITS = { message: 2 * MIB, stream: 8 * MIB };

/** How many bytes of an answer are read. It consists of pieces of 1 MiB, each the given text again and again. */
async function read(type: string, { text, mib }: { text: string; mib: number }): Promise<number | string> {
  const piece = Buffer.from(text.repeat(MIB / text.length));
  let left = mib;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(piece);
      else controller.close();
    },
  });
  const limited = withLimits(new Response(body, { headers: { 'content-type': type } }), LIMITS);
  let bytes = 0;
  try {
    for await (const chunk of limited.body ?? []) bytes += chunk.length;
    return bytes;
  } catch (error) {
    assert.ok(bytes <= 3 * MIB, `${bytes} bytes were passed on`);
    return String(error);
  }
}

const TOO_LONG = 'Error: sends an answer of more than 2 MiB';
const EVENTS = 'Text/Event-Stream; charset=utf-8';

for (const [what, type, text] of [
  ['JSON in many lines', 'application/json', '{},{},\n\n'],
  ['JSON whose type mentions event streams', 'application/json; of=text/event-stream', '{},{},\n\n'],
  ['a page', 'text/html', '<p></p>\n'],
  ['an event of one line', EVENTS, 'xxxxxxxx'],
  ['an event of many lines', EVENTS, 'data: x\n'],
  ['an event of many lines that end in CRLF', EVENTS, 'data:x\r\n'],
  ['an event of many lines that end in CR', EVENTS, 'data: x\r'],
] as const)
  test(`${what}: 2 MiB are read, and more is refused`, async () => {
    assert.equal(await read(type, { text, mib: 2 }), 2 * MIB);
    assert.equal(await read(type, { text, mib: 3 }), TOO_LONG);
  });

for (const [how, text] of [
  ['LF', 'data:x\n\n'],
  ['CRLF', 'data\r\n\r\n'],
  ['CR', 'data:x\r\r'],
  ['both', 'data:x\n\r\n:xx\r\r\n\r\n'.padEnd(32, 'x')],
] as const)
  test(`a stream of events that end in ${how} is limited per event`, async () => {
    assert.equal(await read(EVENTS, { text, mib: 5 }), 5 * MIB);
  });

for (const [what, limits, { text, most }] of [
  ['a message of 16 MiB', undefined, { text: 'x'.repeat(MIB), most: 16 }],
  ['a stream of 8 MiB', LIMITS, { text: `data:${'x'.repeat(MIB - 7)}\n\n`, most: 8 }],
] as const)
  test(`an endless answer is refused after ${what}`, async () => {
    let given = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 1;
        controller.enqueue(Buffer.from(text));
      },
    });
    const limited = withLimits(new Response(body, { headers: { 'content-type': EVENTS } }), limits);
    await assert.rejects(
      async () => {
        for await (const chunk of limited.body ?? []) void chunk;
      },
      { message: `sends an answer of more than ${most} MiB` },
    );
    assert.ok(given <= most + 4, `${given} MiB`);
  });
