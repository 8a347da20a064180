import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeTextFrame, toTextFrame } from './frame-encoding.ts';

const HEADERS: [bytes: number, header: number[]][] = [
  [0, [0x81, 0]],
  [125, [0x81, 125]],
  [126, [0x81, 126, 0, 126]],
  [65_535, [0x81, 126, 255, 255]],
  [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
];

for (const [bytes, header] of HEADERS) {
  test(`a text of ${bytes} bytes gets the header for its length`, () => {
    const frame = encodeTextFrame('x'.repeat(bytes));
    assert.deepEqual([...frame.subarray(0, header.length)], header);
    assert.equal(frame.toString('utf8', header.length), 'x'.repeat(bytes));
  });
}

test('the pieces of a message whose parts are encoded are one frame', () => {
  for (const bytes of [3, 126, 65_536]) {
    const text = `ä${'x'.repeat(bytes)}`;
    const pieces = toTextFrame([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))]);
    assert.deepEqual(Buffer.concat(pieces), encodeTextFrame(text));
  }
});

test('half of a character is sent as the replacement character', () => {
  const frame = encodeTextFrame(JSON.stringify({ text: 'a\ud83d \\ud83d' }));
  assert.deepEqual(JSON.parse(frame.toString('utf8', 2)), { text: 'a\ufffd \\ud83d' });
});

test('the length counts bytes, not characters', () => {
  const text = 'ä€😀'.repeat(20);
  const frame = encodeTextFrame(text);
  assert.equal(frame.readUInt16BE(2), Buffer.byteLength(text));
  assert.equal(frame.toString('utf8', 4), text);
});
