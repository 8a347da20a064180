import { crc32, deflateSync } from 'node:zlib';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

export type Theme = 'light' | 'dark';

/** Pixels in RGBA. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

interface Shot {
  theme: Theme;
  /** Texts that differ between two runs, and what the picture has instead. */
  varying: readonly (readonly [string, string])[];
}

/** As many pixels as a picture is high at most; what is longer is cut. */
const MOST_HEIGHT = 1_600;

/** The page as it is drawn now, with all of a panel that scrolls. */
export async function takePicture(page: Page, { theme, varying }: Shot): Promise<Picture> {
  await page.evaluate(prepare, { theme, varying, random: RANDOM });
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const hidden = await page.evaluate(() => {
    const body = document.querySelector('.panel-body');
    return body === null || document.querySelector('dialog[open]') !== null ? 0 : body.scrollHeight - body.clientHeight;
  });
  const height = Math.min(Math.max(size.height, MOST_HEIGHT), size.height + hidden);
  if (hidden > 0) await page.setViewportSize({ ...size, height });
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (hidden > 0) await page.setViewportSize(size);
  return PNG.sync.read(taken);
}

/** Random texts, and what the picture has instead. */
const RANDOM: readonly (readonly [string, string])[] = [
  ['\\b(role|pol|rule|job|tpl|skl|mem|tok|user|run|cal|apr|wat)_[\\w-]{16}', '$1_0123456789abcdef'],
  ['\\b[0-9a-f]{32}\\b', '0123456789abcdef0123456789abcdef'],
  ['\\b[0-9A-F]{4}-[0-9A-F]{4}\\b', '0123-4567'],
  ['\\bsvc_[0-9a-f]+', 'svc_0123'],
];

/** Runs in the page. */
function prepare({ theme, varying, random }: Shot & { random: Shot['varying'] }): void {
  document.documentElement.dataset.theme = theme;
  // How busy this process is differs each time.
  for (const figure of document.querySelectorAll<HTMLElement>('figure.chart'))
    if (figure.innerText.includes('busy')) figure.style.visibility = 'hidden';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let text = node.textContent ?? '';
    for (const [from, to] of varying) text = text.replaceAll(from, to);
    for (const [from, to] of random) text = text.replaceAll(new RegExp(from, 'g'), to);
    if (text !== node.textContent) node.textContent = text;
  }
}

/** Half as wide and high, with a few bits per colour: small files in which every visible change is still seen. */
export function reduce({ width, height, data }: Picture): Picture {
  const [half, low] = [Math.floor(width / 2), Math.floor(height / 2)];
  const reduced = new Uint8Array(half * low * 4);
  const at = (index: number) => data[index] ?? 0;
  for (let y = 0; y < low; y += 1)
    for (let x = 0; x < half; x += 1) {
      const above = (y * 2 * width + x * 2) * 4;
      const below = above + width * 4;
      const to = (y * half + x) * 4;
      for (let channel = 0; channel < 3; channel += 1) {
        const sum = at(above + channel) + at(above + 4 + channel) + at(below + channel) + at(below + 4 + channel);
        reduced[to + channel] = Math.round(Math.round(sum / 4 / STEP) * STEP);
      }
      reduced[to + 3] = 255;
    }
  return { width: half, height: low, data: reduced };
}

/** Between two of the 32 values of a colour. */
const STEP = 255 / 31;

export interface Difference {
  /** How many pixels differ; all of them if the sizes differ. */
  pixels: number;
  /** The first picture, with what differs in red. */
  picture: Picture;
}

/** Compares two reduced pictures. */
export function compare(one: Picture, other: Picture): Difference {
  const { width, height } = one;
  const picture = { width, height, data: new Uint8Array(width * height * 4) };
  if (width !== other.width || height !== other.height) return { pixels: width * height, picture: one };
  const pixels = pixelmatch(one.data, other.data, picture.data, width, height, { threshold: 0.15 });
  return { pixels, picture };
}

export const readPng = (bytes: Buffer): Picture => PNG.sync.read(bytes);

/** The picture in its most frequent colours: as it is after it was stored. */
export function inStoredColours(picture: Picture): Picture {
  const { colours, palette, places } = paletteOf(picture);
  const data = new Uint8Array(picture.data.length);
  const view = new DataView(data.buffer);
  for (let index = 0; index < colours.length; index += 1) {
    const colour = palette[places.get(colours[index] ?? 0) ?? 0] ?? 0;
    view.setUint32(index * 4, ((colour << 8) | 255) >>> 0);
  }
  return { ...picture, data };
}

/** A PNG with a palette; pngjs writes none. */
export function toPng(picture: Picture): Buffer {
  const { width, height } = picture;
  const { colours, palette, places } = paletteOf(picture);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + x + 1] = places.get(colours[y * width + x] ?? 0) ?? 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8); // eight bits for each pixel, which is a place in the palette
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    toChunk('IHDR', head),
    toChunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    toChunk('IDAT', deflateSync(rows, { level: 9 })),
    toChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The colours of the pixels, the 64 most frequent ones, and which of those stands for each colour. */
function paletteOf({ width, height, data }: Picture) {
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let index = 0; index < colours.length; index += 1) {
    const at = index * 4;
    const colour = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
    colours[index] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([a, m], [b, n]) => n - m || a - b)
    .map(([colour]) => colour)
    .slice(0, 64);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  for (const colour of counts.keys()) if (!places.has(colour)) places.set(colour, nearest(colour, palette));
  return { colours, palette, places };
}

const channelsOf = (colour: number): number[] => [colour >> 16, (colour >> 8) & 255, colour & 255];

function nearest(colour: number, palette: readonly number[]): number {
  const wanted = channelsOf(colour);
  const distances = palette.map((one) =>
    channelsOf(one).reduce((sum, channel, index) => sum + (channel - (wanted[index] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function toChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
