import { toKitty, toSixel } from './drawings.ts';
import type { Graphics } from './graphics.ts';
import { type Pixels, scale } from './pixels.ts';

export interface Room {
  columns: number;
  rows: number;
}

/** An image is never larger than this, however large the terminal is. */
const MOST: Room = { columns: 80, rows: 20 };

/**
 * The rows of an image for `Screen.print`: blank ones that make room, and in the last one the image, drawn upwards from there.
 */
export function toImageRows(pixels: Pixels, graphics: Graphics, room: Room): string[] {
  const cells = toCells(pixels, graphics, room);
  const { cell, kind } = graphics;
  const size = { width: cells.columns * cell.width, height: cells.rows * cell.height };
  const isSmaller = pixels.width <= size.width && pixels.height <= size.height;
  // Kitty enlarges by itself; sixels are as large as they are drawn.
  const scaled = isSmaller ? pixels : scale(pixels, fitInto(pixels, size));
  const drawing = kind === 'kitty' ? toKitty(scaled, cells) : toSixel(scaled);
  const up = cells.rows > 1 ? `\x1b[${cells.rows - 1}A` : '';
  return [...Array<string>(cells.rows - 1).fill(''), `\x1b7${up}${drawing}\x1b8`];
}

/** As many cells as the image has pixels for, and not more than there is room for. */
function toCells({ width, height }: Pixels, { cell }: Graphics, room: Room): Room {
  const columns = Math.max(1, Math.min(MOST.columns, room.columns - 1));
  const rows = Math.max(1, Math.min(MOST.rows, Math.floor(room.rows / 2)));
  const fitted = fitInto({ width, height }, { width: columns * cell.width, height: rows * cell.height });
  return {
    columns: Math.min(columns, Math.max(1, Math.ceil(fitted.width / cell.width))),
    rows: Math.min(rows, Math.max(1, Math.ceil(fitted.height / cell.height))),
  };
}

type Size = Pick<Pixels, 'width' | 'height'>;

/** The size in which an image fits, with its proportions; it is not enlarged. */
function fitInto({ width, height }: Size, most: Size): Size {
  const ratio = Math.min(1, most.width / width, most.height / height);
  return { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
}
