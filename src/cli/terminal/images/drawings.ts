import { deflateSync } from 'node:zlib';
import type { Pixels } from './pixels.ts';

/** How much of one image kitty takes at once. */
const CHUNK = 4_096;

/** The image in the graphics protocol of kitty, which scales it to this many cells. `q=2`: it answers nothing. */
export function toKitty({ width, height, rgba }: Pixels, { columns, rows }: { columns: number; rows: number }): string {
  const data = deflateSync(rgba).toString('base64');
  const parts = data.match(new RegExp(`.{1,${CHUNK}}`, 'g')) ?? [];
  const head = `a=T,q=2,f=32,o=z,s=${width},v=${height},c=${columns},r=${rows},C=1,`;
  return parts
    .map((part, index) => `\x1b_G${index === 0 ? head : ''}m=${index < parts.length - 1 ? 1 : 0};${part}\x1b\\`)
    .join('');
}

/** How many steps each colour has. */
const STEPS = { red: 6, green: 7, blue: 6 };
const BAND = 6;

/** The image as sixels: bands of six rows, in which each colour is drawn by itself. What is transparent stays empty. */
export function toSixel(pixels: Pixels): string {
  const { width, height } = pixels;
  const palette = new Set<number>();
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND) {
    const byColour = readBand(pixels, top);
    for (const colour of byColour.keys()) palette.add(colour);
    bands.push([...byColour].map(([colour, row]) => `#${colour}${toRuns(row)}`).join('$'));
  }
  const colours = [...palette].map((colour) => `#${colour};2;${toPercents(colour).join(';')}`).join('');
  return `\x1bP0;1q"1;1;${width};${height}${colours}${bands.join('-')}\x1b\\`;
}

/** For each colour, one number for each column: which of the six rows have it. */
function readBand({ width, height, rgba }: Pixels, top: number): Map<number, Uint8Array> {
  const byColour = new Map<number, Uint8Array>();
  const end = Math.min(height, top + BAND) * width;
  for (let pixel = top * width; pixel < end; pixel += 1) {
    const [red = 0, green = 0, blue = 0, opacity = 0] = rgba.subarray(pixel * 4, pixel * 4 + 4);
    if (opacity < 128) continue;
    const colour = toColour(red, green, blue);
    const row = byColour.get(colour) ?? new Uint8Array(width);
    const x = pixel % width;
    row[x] = (row[x] ?? 0) | (1 << (Math.floor(pixel / width) - top));
    byColour.set(colour, row);
  }
  return byColour;
}

const step = (value: number, steps: number) => Math.round((value / 255) * (steps - 1));

const toColour = (red: number, green: number, blue: number): number =>
  (step(red, STEPS.red) * STEPS.green + step(green, STEPS.green)) * STEPS.blue + step(blue, STEPS.blue);

function toPercents(colour: number): number[] {
  const [blue, rest] = [colour % STEPS.blue, Math.floor(colour / STEPS.blue)];
  const [green, red] = [rest % STEPS.green, Math.floor(rest / STEPS.green)];
  const percent = (value: number, steps: number) => Math.round((value / (steps - 1)) * 100);
  return [percent(red, STEPS.red), percent(green, STEPS.green), percent(blue, STEPS.blue)];
}

/** `!12~` for twelve of the same. */
function toRuns(row: Uint8Array): string {
  let text = '';
  for (let from = 0; from < row.length; ) {
    let to = from + 1;
    while (to < row.length && row[to] === row[from]) to += 1;
    const sign = String.fromCharCode(63 + (row[from] ?? 0));
    text += to - from > 3 ? `!${to - from}${sign}` : sign.repeat(to - from);
    from = to;
  }
  return text;
}
