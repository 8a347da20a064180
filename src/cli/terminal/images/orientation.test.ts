import assert from 'node:assert/strict';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import { readImageSize } from './image-size.ts';
import { type Orientation, readOrientation, setUpright } from './orientation.ts';
import { readImage } from './read-image.ts';

const ALL: readonly Orientation[] = [1, 2, 3, 4, 5, 6, 7, 8];
const NO_WEBP = new URL('file:///none');

/** A JPEG, dark on the left and light on the right, with this note of a camera. */
function photo(value: number, { order = 'II', width = 32, height = 16 } = {}): Buffer {
  const data = Buffer.alloc(width * height * 4, 255);
  for (let at = 0; at < data.length; at += 4) if ((at / 4) % width < width / 2) data.fill(0, at, at + 3);
  const { data: file } = jpeg.encode({ width, height, data }, 95);
  const tiff = Buffer.alloc(26);
  const isLittle = order === 'II';
  const short = (number: number, at: number) =>
    void (isLittle ? tiff.writeUInt16LE(number, at) : tiff.writeUInt16BE(number, at));
  tiff.write(order, 0, 'latin1');
  short(42, 2);
  if (isLittle) tiff.writeUInt32LE(8, 4);
  else tiff.writeUInt32BE(8, 4);
  for (const [number, at] of [
    ...[
      [1, 8],
      [0x0112, 10],
      [3, 12],
    ],
    ...[
      [isLittle ? 1 : 0, 14],
      [isLittle ? 0 : 1, 16],
      [value, 18],
    ],
  ] as const)
    short(number, at);
  const head = Buffer.from([0xff, 0xe1, 0, 2 + 6 + tiff.length]);
  return Buffer.concat([file.subarray(0, 2), head, Buffer.from('Exif\0\0', 'latin1'), tiff, file.subarray(2)]);
}

test('a JPEG says how the camera was held, in both orders of bytes', () => {
  for (const order of ['II', 'MM'])
    assert.deepEqual(
      ALL.map((value) => readOrientation(photo(value, { order }))),
      ALL,
    );
  assert.deepEqual(
    [0, 9, 77].map((value) => readOrientation(photo(value))),
    [1, 1, 1],
  );
  const whole = photo(6);
  for (let end = 0; end < 46; end += 1) assert.ok(ALL.includes(readOrientation(whole.subarray(0, end))), `${end}`);
  for (let at = 2; at < 40; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = 255;
    assert.ok(ALL.includes(readOrientation(changed)), `byte ${at}`);
  }
});

test('each orientation puts every pixel where the camera saw it', () => {
  const pixel = (value: number) => [value, 0, 0, 255];
  // 1 2 3
  // 4 5 6
  const rgba = Uint8Array.from([1, 2, 3, 4, 5, 6].flatMap(pixel));
  const seen = ALL.map((orientation) => {
    const { width, height, rgba: turned } = setUpright({ width: 3, height: 2, rgba }, orientation);
    return [`${width}×${height}`, [...turned].filter((_, at) => at % 4 === 0).join('')];
  });
  assert.deepEqual(seen, [
    ...[
      ['3×2', '123456'],
      ['3×2', '321654'],
      ['3×2', '654321'],
      ['3×2', '456123'],
    ],
    ...[
      ['2×3', '142536'],
      ['2×3', '415263'],
      ['2×3', '635241'],
      ['2×3', '362514'],
    ],
  ]);
});

test('a photo that was taken on its side is shown upright, and so is its size', async () => {
  assert.deepEqual(readImageSize(photo(6)), { width: 16, height: 32 });
  assert.deepEqual(readImageSize(photo(3)), { width: 32, height: 16 });
  const shown = await readImage(photo(6), NO_WEBP);
  assert.deepEqual([shown?.width, shown?.height], [16, 32]);
  const bright = (x: number, y: number) => (shown?.rgba[(y * 16 + x) * 4] ?? 0) > 128;
  assert.deepEqual([bright(0, 0), bright(15, 0), bright(0, 31), bright(15, 31)], [false, false, true, true]);
});
