import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { CheckedContent } from './content-check.ts';

async function check(chunks: Iterable<Uint8Array>) {
  const checked = new CheckedContent(chunks);
  const passed: Uint8Array[] = [];
  for await (const chunk of checked) passed.push(chunk);
  return { ...checked.type, bytes: Buffer.concat(passed) };
}
/** One byte at a time, because the result must not depend on where the chunks of an upload end. */
const singly = (bytes: Buffer) => [...bytes].map((byte) => Uint8Array.of(byte));
const UNSUPPORTED = {
  code: 'INVALID_REQUEST',
  message: 'Only images (PNG, JPEG, GIF, WebP) and UTF-8 text can be attached',
};

test('the type of a file does not depend on its chunks', async () => {
  const files: [Buffer, string][] = [
    [Buffer.from('89504e470d0a1a0a00ff', 'hex'), 'image/png'],
    [Buffer.from('ffd8ffe000104a46', 'hex'), 'image/jpeg'],
    [Buffer.from('GIF89a\0\0'), 'image/gif'],
    [Buffer.from('RIFF\xff\0\0\0WEBPVP8 ', 'latin1'), 'image/webp'],
    [Buffer.from('grüße 写真 🐈'), 'text/plain'],
    [Buffer.from('GIF'), 'text/plain'],
  ];
  for (const [bytes, mime_type] of files) {
    const kind = mime_type === 'text/plain' ? 'text' : 'image';
    const expected = { mime_type, size_bytes: bytes.length, kind, bytes };
    assert.deepEqual([await check([bytes]), await check(singly(bytes))], [expected, expected]);
  }
});

test('files that are neither are refused: NUL, broken UTF-8, a cut-off last character, only the head of an image', async () => {
  for (const bytes of [
    Buffer.from('text\0'),
    Buffer.from([0x61, 0xff]),
    Buffer.from('🐈').subarray(0, 3),
    Buffer.from('89504e47', 'hex'),
    Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'),
  ])
    for (const chunks of [[bytes], singly(bytes)]) await assert.rejects(check(chunks), UNSUPPORTED);
  await assert.rejects(check([]), { message: 'The file is empty' });
});

test('reading stops once a file is known to be too large or unsupported', async () => {
  let given = 0;
  const endless = function* (first: Buffer) {
    yield first;
    for (;;) {
      given += 1;
      yield Buffer.alloc(1024 * 1024, 'a');
    }
  };
  await assert.rejects(check(endless(Buffer.from('GIF89a'))), {
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The image is too large: at most 6 MiB',
  });
  assert.equal(given, LIMITS.imageBytes / (1024 * 1024));
  given = 0;
  await assert.rejects(check(endless(Buffer.from('text'))), {
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The file is too large: at most 20 MiB',
  });
  assert.equal(given, LIMITS.attachmentBytes / (1024 * 1024));
  given = 0;
  await assert.rejects(check(endless(Buffer.alloc(16))), UNSUPPORTED);
  assert.equal(given, 0);
});

test('there is no type before the end of the file', () => {
  assert.throws(() => new CheckedContent([]).type, { message: 'the file was not read to its end' });
});
