import type { Paint } from './paint.ts';

/** The style and width of rendered text. */
export interface Sheet {
  paint: Paint;
  columns: number;
}
