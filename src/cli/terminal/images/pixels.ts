/** An image in memory: four bytes for each pixel (red, green, blue, opacity), row after row. */
export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/** A larger image is not decoded. */
export const MOST_PIXELS = 16_000_000;

/** The image in another size; each new pixel is the average of those that it replaces. */
export function scale({ width, height, rgba }: Pixels, to: { width: number; height: number }): Pixels {
  const scaled = new Uint8Array(to.width * to.height * 4);
  const edge = (at: number, from: number, into: number) => Math.floor((at * from) / into);
  for (let y = 0; y < to.height; y += 1) {
    const [top, bottom] = [edge(y, height, to.height), edge(y + 1, height, to.height)];
    for (let x = 0; x < to.width; x += 1) {
      const [left, right] = [edge(x, width, to.width), edge(x + 1, width, to.width)];
      const area = { left, top, right: Math.max(right, left + 1), bottom: Math.max(bottom, top + 1) };
      scaled.set(averageOf({ width, height, rgba }, area), (y * to.width + x) * 4);
    }
  }
  return { ...to, rgba: scaled };
}

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What is transparent does not count for the colour. */
function averageOf({ width, rgba }: Pixels, { left, top, right, bottom }: Area): [number, number, number, number] {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y += 1) {
    for (let at = (y * width + left) * 4; at < (y * width + right) * 4; at += 4) {
      const part = rgba[at + 3] ?? 0;
      red += (rgba[at] ?? 0) * part;
      green += (rgba[at + 1] ?? 0) * part;
      blue += (rgba[at + 2] ?? 0) * part;
      opacity += part;
    }
  }
  const of = (sum: number) => (opacity === 0 ? 0 : Math.round(sum / opacity));
  return [of(red), of(green), of(blue), Math.round(opacity / ((right - left) * (bottom - top)))];
}
