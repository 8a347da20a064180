import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import jpeg from 'jpeg-js';
import { drawImage } from './draw-image.ts';
import { toKitty, toSixel } from './drawings.ts';
import { createGraphicsAnswers, toGraphicsQuestion } from './graphics.ts';
import { toImageRows } from './image-rows.ts';
import { readImageSize } from './image-size.ts';
import { scale } from './pixels.ts';
import { readImage } from './read-image.ts';
import { readPng } from './read-png.ts';

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

interface PngParts {
  width: number;
  height: number;
  kind: number;
  depth?: number;
  /** Each with its filter. */
  rows: number[][];
  more?: Buffer[];
}

function png({ width, height, kind, depth = 8, rows, more = [] }: PngParts): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([depth, kind], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...more,
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const WEBP = new URL(import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm'));
const pixelsOf = async (bytes: Uint8Array) => [...((await readPng(bytes))?.rgba ?? [])];
const RED_PNG = png({ width: 2, height: 1, kind: 2, rows: [[0, 255, 0, 0, 255, 0, 0]] });

test('every filter of a PNG is undone', async () => {
  const grey = (...rows: number[][]) => pixelsOf(png({ width: 3, height: rows.length, kind: 0, rows }));
  const values = async (...rows: number[][]) => (await grey(...rows)).filter((_, at) => at % 4 === 0);
  assert.deepEqual(await values([1, 10, 5, 5]), [10, 15, 20]);
  assert.deepEqual(await values([0, 1, 2, 3], [2, 1, 1, 255]), [1, 2, 3, 2, 3, 2]);
  assert.deepEqual(await values([0, 10, 20, 30], [3, 5, 5, 5]), [10, 20, 30, 10, 20, 30]);
  assert.deepEqual(await values([0, 10, 20, 30], [4, 1, 1, 1]), [10, 20, 30, 11, 21, 31]);
  assert.deepEqual(await values([5, 1, 1, 1]), []);
});

test('palettes, few bits and opacity are read', async () => {
  const more = [chunk('PLTE', Buffer.from([1, 2, 3, 4, 5, 6])), chunk('tRNS', Buffer.from([0]))];
  assert.deepEqual(await pixelsOf(png({ width: 2, height: 1, kind: 3, depth: 1, rows: [[0, 0b01000000]], more })), [
    ...[1, 2, 3, 0],
    ...[4, 5, 6, 255],
  ]);
  assert.deepEqual(await pixelsOf(png({ width: 1, height: 1, kind: 4, rows: [[0, 7, 8]] })), [7, 7, 7, 8]);
  assert.deepEqual(await pixelsOf(png({ width: 1, height: 1, kind: 6, rows: [[0, 1, 2, 3, 4]] })), [1, 2, 3, 4]);
  assert.deepEqual(
    (await pixelsOf(png({ width: 2, height: 1, kind: 0, depth: 4, rows: [[0, 0x3f]] }))).slice(0, 5),
    [51, 51, 51, 255, 255],
  );
});

test('a PNG that is damaged or claims a huge size is not read', async () => {
  const huge = png({ width: 100_000, height: 100_000, kind: 2, rows: [[0]] });
  const short = png({ width: 4, height: 4, kind: 2, rows: [[0, 1]] });
  for (const bytes of [huge, short, RED_PNG.subarray(0, 50), Buffer.from('no image'), Buffer.alloc(0)])
    assert.equal(await readPng(bytes), undefined);
});

test('the size of an image is in its first bytes', () => {
  const gif = Buffer.from('GIF89a\x40\x01\xf0\x00', 'latin1');
  const jpeg = Buffer.from('ffd8ffe000040000ffc000110801e0028003', 'hex');
  const webp = Buffer.concat([
    Buffer.from('RIFF0000WEBPVP8X', 'latin1'),
    Buffer.alloc(8),
    Buffer.from([9, 0, 0, 4, 0, 0]),
  ]);
  assert.deepEqual([RED_PNG, gif, jpeg, webp, Buffer.from('text'), Buffer.alloc(0)].map(readImageSize), [
    { width: 2, height: 1 },
    { width: 320, height: 240 },
    { height: 480, width: 640 },
    { width: 10, height: 5 },
    undefined,
    undefined,
  ]);
});

test('a scaled pixel is the average of those it replaces; transparent ones do not count', () => {
  const rgba = Uint8Array.from([100, 0, 0, 255, 200, 0, 0, 255, 9, 9, 9, 0, 40, 0, 0, 255]);
  assert.deepEqual(
    [...scale({ width: 4, height: 1, rgba }, { width: 2, height: 1 }).rgba],
    [150, 0, 0, 255, 40, 0, 0, 128],
  );
});

test('sixels are bands of six rows, with one line for each colour', () => {
  const rgba = Uint8Array.from([255, 0, 0, 255, 255, 0, 0, 255, 0, 0, 255, 255, 0, 0, 0, 0]);
  const drawn = toSixel({ width: 4, height: 1, rgba });
  assert.equal(drawn, '\x1bP0;1q"1;1;4;1#210;2;100;0;0#5;2;0;0;100#210@@??$#5??@?\x1b\\');
  const tall = toSixel({ width: 1, height: 7, rgba: new Uint8Array(28).fill(255) });
  assert.ok(tall.endsWith('#251~-#251@\x1b\\'));
});

test('an image for kitty is sent in pieces, of which the last says so', () => {
  let last = 1;
  const noise = Uint8Array.from({ length: 64 * 64 * 4 }, () => {
    last = (last * 1_103_515_245 + 12_345) % 2 ** 31;
    return last >> 16;
  });
  const parts = toKitty({ width: 64, height: 64, rgba: noise }, { columns: 6, rows: 3 }).split('\x1b\\');
  assert.ok(parts[0]?.startsWith('\x1b_Ga=T,q=2,f=32,o=z,s=64,v=64,c=6,r=3,C=1,m=1;'));
  assert.ok(parts.at(-2)?.startsWith('\x1b_Gm=0;'));
  assert.ok(parts.every((part) => part.length < 4_200));
});

test('an image makes room with blank rows and is drawn from the last one; others are not drawn', async () => {
  const wide = png({
    width: 60,
    height: 60,
    kind: 0,
    rows: Array.from({ length: 60 }, () => Array<number>(61).fill(0)),
  });
  const graphics = { kind: 'sixel', cell: { width: 10, height: 20 } } as const;
  const pixels = await readImage(wide, WEBP);
  assert.ok(pixels);
  const rows = toImageRows(pixels, graphics, { columns: 80, rows: 24 });
  assert.deepEqual([rows.slice(0, -1), rows.at(-1)?.slice(0, 8)], [['', ''], '\x1b7\x1b[2A\x1bP']);
  assert.equal(toImageRows(pixels, graphics, { columns: 80, rows: 5 }).length, 2);
  assert.equal(await readImage(Buffer.from('GIF89a'), WEBP), undefined);
});

/** One red pixel; its palette has red and white. */
const RED_GIF = Buffer.from('R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');
const grey = (width: number, height: number) =>
  jpeg.encode({ width, height, data: Buffer.alloc(width * height * 4, 128) }, 90).data;

/** Without loss: a red pixel, and a blue one through which half of the background is seen. */
const RED_WEBP = Buffer.from('UklGRiAAAABXRUJQVlA4TBMAAAAvAQAAEA8Q+z//D/yPChWI6H8AAA==', 'base64');
/** With loss: 16 by 16 red pixels; and 2 by 2 with other opacities. */
const LOSSY_WEBP = Buffer.from(
  'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoQABAAAgA0JaACdLoB+AADsAD+8MQL/yC5YXXI1/8gP+QH/ID/+PIAAAA=',
  'base64',
);
const OPAQUE_WEBP = Buffer.from(
  'UklGRlwAAABXRUJQVlA4WAoAAAAQAAAAAQAAAQAAQUxQSAUAAAAAADx4tABWUDggMAAAANABAJ0BKgIAAgACADQloAJ0ugH4AAOwAP7wxAv/ILlhdcjX/yA/5Af8gP/48gAAAA==',
  'base64',
);

test('a WebP is read, with and without loss and opacity', async () => {
  assert.deepEqual(await readImage(RED_WEBP, WEBP), {
    ...{ width: 2, height: 1 },
    rgba: Uint8Array.of(255, 0, 0, 255, 0, 0, 255, 128),
  });
  const lossy = await readImage(LOSSY_WEBP, WEBP);
  assert.deepEqual([lossy?.width, lossy?.height, lossy?.rgba.length], [16, 16, 1_024]);
  assert.deepEqual([...(lossy?.rgba.subarray(0, 4) ?? [])], [255, 0, 2, 255]);
  const opacities = [...((await readImage(OPAQUE_WEBP, WEBP))?.rgba ?? [])].filter((_, at) => at % 4 === 3);
  assert.deepEqual(opacities, [0, 60, 120, 180]);
});

test('a WebP that is cut, damaged or moves, or claims another size than it has, is not read', async () => {
  const changed = (bytes: Buffer, at: number, value: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = value;
    return copy;
  };
  const frames = [
    changed(OPAQUE_WEBP, 20, 0x12), // its flag says that it moves
    changed(OPAQUE_WEBP, 24, 9), // ten pixels wide, in the head only
    changed(OPAQUE_WEBP, OPAQUE_WEBP.indexOf('9d012a', 'hex') + 4, 0x3f), // 16,130 pixels wide, in the frame only
    changed(LOSSY_WEBP, 23, 0xff),
  ];
  const cut = [RED_WEBP, LOSSY_WEBP, OPAQUE_WEBP].flatMap((whole) =>
    [16, 24, 30].map((size) => whole.subarray(0, size)),
  );
  for (const bytes of [...frames, ...cut])
    assert.equal(await readImage(bytes, WEBP), undefined, bytes.toString('hex').slice(0, 100));
});

test('no change of a byte of a WebP ends the program, or gives more pixels than its size says', async () => {
  for (const whole of [RED_WEBP, LOSSY_WEBP, OPAQUE_WEBP])
    for (let at = 12; at < whole.length; at += 3) {
      const bytes = Buffer.from(whole);
      bytes[at] = 255 - (bytes[at] ?? 0);
      const pixels = await readImage(bytes, WEBP);
      if (pixels) assert.equal(pixels.rgba.length, pixels.width * pixels.height * 4);
    }
});

test('a JPEG and the first frame of a GIF are read', async () => {
  assert.deepEqual(await readImage(RED_GIF, WEBP), { width: 1, height: 1, rgba: Uint8Array.of(255, 0, 0, 255) });
  const { width, height, rgba } = (await readImage(grey(20, 10), WEBP)) ?? {};
  assert.deepEqual(
    [width, height, rgba?.length, [...(rgba ?? [])].every((value, at) => at % 4 === 3 || Math.abs(value - 128) < 3)],
    [20, 10, 800, true],
  );
});

test('a JPEG or GIF that is cut, damaged, or larger than it may be, is not read', async () => {
  const wide = Buffer.from(RED_GIF);
  wide.writeUInt16LE(9, RED_GIF.indexOf(0x2c, 20) + 5); // a frame that is larger than the image
  const huge = grey(8, 8);
  const frame = huge.indexOf(Buffer.from('ffc0', 'hex'));
  huge.writeUInt16BE(60_000, frame + 5);
  huge.writeUInt16BE(60_000, frame + 7);
  const zeros = grey(8, 8).fill(0, 200);
  const webp = Buffer.concat([
    Buffer.from('RIFF0000WEBPVP8X', 'latin1'),
    Buffer.alloc(8),
    Buffer.from([9, 0, 0, 4, 0, 0]),
  ]);
  for (const bytes of [wide, RED_GIF.subarray(0, 20), huge, zeros.subarray(0, 220), webp])
    assert.equal(await readImage(bytes, WEBP), undefined, bytes.toString('hex').slice(0, 80));
});

test('a worker draws an image; one that dies or never answers draws nothing', async () => {
  const task = {
    bytes: RED_GIF,
    graphics: { kind: 'sixel', cell: { width: 10, height: 20 } },
    room: { columns: 80, rows: 24 },
  } as const;
  const workerUrl = new URL('./image-worker.ts', import.meta.url);
  const never = { webpUrl: WEBP, timers: { after: () => () => undefined } };
  for (const bytes of [RED_GIF, RED_WEBP]) {
    const pixels = await readImage(bytes, WEBP);
    assert.deepEqual(
      await drawImage({ ...task, bytes }, { ...never, workerUrl }),
      pixels && toImageRows(pixels, task.graphics, task.room),
    );
  }
  const code = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  assert.equal(await drawImage(task, { ...never, workerUrl: code('process.exit(1)') }), undefined);
  assert.equal(await drawImage(task, { ...never, workerUrl: code('throw new Error("x")') }), undefined);
  const atOnce = {
    after(_: number, callback: () => void) {
      setImmediate(callback);
      return () => undefined;
    },
  };
  assert.equal(
    await drawImage(task, { workerUrl: code('setInterval(() => {}, 1000)'), webpUrl: WEBP, timers: atOnce }),
    undefined,
  );
});

test('kitty is asked only where it may be, and never through a multiplexer', () => {
  const asks = (environment: Record<string, string>) => toGraphicsQuestion(environment).includes('_G');
  assert.deepEqual(
    [
      { TERM: 'xterm-kitty' },
      { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' },
      { TERM: 'xterm-256color' },
      { TERM: 'xterm-kitty', TMUX: '/tmp/tmux' },
      { TERM: 'screen', KITTY_WINDOW_ID: '1' },
    ].map(asks),
    [true, true, false, false, false],
  );
});

test('answers are no keys, also in pieces, and what is typed between them is kept', () => {
  const answers = createGraphicsAnswers();
  const typed = ['a\x1b_Gi=31;O', 'K\x1b\\b\x1b[6;30;15t', 'c\x1b[?62;', '22cd', '\x1b[?1c'].map(answers.filter);
  assert.deepEqual(
    [typed.join(''), answers.graphics],
    ['abcd\x1b[?1c', { kind: 'kitty', cell: { width: 15, height: 30 } }],
  );
});

test('sixel is an attribute; without it and without an answer there are no graphics', () => {
  const of = (answer: string) => {
    const answers = createGraphicsAnswers();
    answers.filter(answer);
    return answers.graphics?.kind;
  };
  assert.deepEqual(['\x1b[?62;4;22c', '\x1b[?62;14c', '\x1b_Gi=31;ENOENT\x1b\\\x1b[?1;2c', '', '\x1b[A'].map(of), [
    'sixel',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
