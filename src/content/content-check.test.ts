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
  message: 'Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached',
};

test('the type of a file does not depend on its chunks', async () => {
  const files: [Buffer, string][] = [
    [Buffer.from('89504e470d0a1a0a00ff', 'hex'), 'image/png'],
    [Buffer.from('ffd8ffe000104a46', 'hex'), 'image/jpeg'],
    [Buffer.from('GIF89a\0\0'), 'image/gif'],
    [Buffer.from('RIFF\xff\0\0\0WEBPVP8 ', 'latin1'), 'image/webp'],
    [Buffer.from('grüße 写真 🐈'), 'text/plain'],
    [Buffer.from('GIF'), 'text/plain'],
    [Buffer.from('OggS and ID3 are the first letters of recordings'), 'text/plain'],
  ];
  for (const [bytes, mime_type] of files) {
    const kind = mime_type === 'text/plain' ? 'text' : 'image';
    const expected = { mime_type, size_bytes: bytes.length, kind, bytes };
    assert.deepEqual([await check([bytes]), await check(singly(bytes))], [expected, expected]);
  }
});

test('PDFs, recordings and videos are known by their first bytes', async () => {
  const files: [string, string, string][] = [
    ['%PDF-1.7\n', 'application/pdf', 'pdf'],
    ['OggS\0\x02', 'audio/ogg', 'audio'],
    ['fLaC\0\0\0"', 'audio/flac', 'audio'],
    ['#!AMR\n<', 'audio/amr', 'audio'],
    ['ID3\x04\0\0', 'audio/mpeg', 'audio'],
    ['\xff\xfb\x90\x64', 'audio/mpeg', 'audio'],
    ['\xff\xf1\x50\x80', 'audio/aac', 'audio'],
    ['RIFF\xff\0\0\0WAVEfmt ', 'audio/wav', 'audio'],
    ['\0\0\0\x20ftypM4A \0', 'audio/mp4', 'audio'],
    ['\0\0\0\x20ftypisom\0', 'video/mp4', 'video'],
    ['\0\0\0\x14ftypqt  \0', 'video/quicktime', 'video'],
    ['\0\0\0\x14ftyp3gp4\0', 'video/3gpp', 'video'],
    ['\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'video/webm', 'video'],
    ['\x1a\x45\xdf\xa3\xa3B\x86', 'video/x-matroska', 'video'],
    ['RIFF\xff\0\0\0AVI LIST', 'video/x-msvideo', 'video'],
  ];
  for (const [text, mime_type, kind] of files) {
    const bytes = Buffer.from(text, 'latin1');
    const expected = { mime_type, kind, size_bytes: bytes.length, bytes };
    assert.deepEqual([await check([bytes]), await check(singly(bytes))], [expected, expected], mime_type);
  }
});

test('files that are neither are refused: NUL, broken UTF-8, a cut-off last character, only the head of an image', async () => {
  for (const bytes of [
    Buffer.from('text\0'),
    Buffer.from([0x61, 0xff]),
    Buffer.from('🐈').subarray(0, 3),
    Buffer.from('89504e47', 'hex'),
    Buffer.from('RIFF\0\0\0\0ACONanih', 'latin1'),
    Buffer.from('\0\0\0\x18ftypheic\0\0\0\0', 'latin1'),
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
  await assert.rejects(check(endless(Buffer.alloc(64))), UNSUPPORTED);
  assert.equal(given, 0);
});

test('there is no type before the end of the file', () => {
  assert.throws(() => new CheckedContent([]).type, { message: 'the file was not read to its end' });
});
